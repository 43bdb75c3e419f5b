/* gpu_arch.h - the facts about a GPU that rules may use
 *
 * Facts come from a real GPU if one is connected, otherwise from a table with
 * one well-known GPU for each architecture.  SQL expressions use them by name.
 * Thread rule: constant; any thread.
 */
#ifndef FA_COORDINATOR_SPEC_GPU_ARCH_H
#define FA_COORDINATOR_SPEC_GPU_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/msg_values.h"

struct err;

#define GPU_ARCH_UNKNOWN INT64_C(-1) /* NULL in SQL */

struct gpu_arch_facts {
    int64_t arch; /* 89 for sm_89 */
    int64_t sm_count;
    int64_t smem_per_block; /* the opt-in maximum, in bytes */
    int64_t smem_per_sm;
    int64_t regs_per_block;
    int64_t regs_per_sm;
    int64_t threads_per_sm;
    int64_t blocks_per_sm;
    int64_t max_threads_per_block;
    int64_t l2_bytes;
    int64_t mem_bytes;
    int64_t dram_bytes_per_s;
    int64_t sm_clock_hz;            /* highest */
    int64_t mma_flops_per_clock_sm; /* dense fp16 mma, fp32 accumulate */
};

#define GPU_ARCH_DEFAULT "sm_89"
#define GPU_ARCH_FACTS 14

/* The row of the table for "sm_89" or "89", or NULL. */
const struct gpu_arch_facts *gpu_arch_find(const char *name);
/* The same for user input: ERR_INPUT lists the known ones. */
int gpu_arch_find_named(const char *name, const struct gpu_arch_facts **out,
                        struct err *err);
/* The row whose GPU is a word of a name, in any case: "l4-2", "gpu.a100".  NULL
 * if no row fits, or several do. */
const struct gpu_arch_facts *gpu_arch_find_gpu(const char *name);
const char *
gpu_arch_gpu_name(const struct gpu_arch_facts *row); /* the GPU in the table */

const char *gpu_arch_fact_name(size_t fact); /* fact < GPU_ARCH_FACTS */
/* Does its name stand in the text of a sweep file? */
bool gpu_arch_is_named(const char *text, size_t fact);
int64_t gpu_arch_fact(const struct gpu_arch_facts *facts, size_t fact);

/* Parse the lines "NAME VALUE" of a GPU message.  Unknown names are skipped,
 * missing facts become GPU_ARCH_UNKNOWN. ERR_PROTO if a name is empty, a value
 * is not a number, or 'arch' is missing. */
int gpu_arch_facts_read(const struct texts *lines, struct gpu_arch_facts *out,
                        struct err *err);
/* The same capability, SM count and memory (within 2 %: drivers reserve
 * some). */
bool gpu_arch_same_model(const struct gpu_arch_facts *a,
                         const struct gpu_arch_facts *b);
/* The same name: older drivers leave out "NVIDIA ". */
bool gpu_arch_same_name(const char *a, const char *b);
/* "NVIDIA L4 (sm_89, 58 SMs, 22 GiB)"; what is not known is left out. */
void gpu_arch_describe(const char *name, const struct gpu_arch_facts *facts,
                       char *out, size_t size);
void gpu_arch_json(const struct gpu_arch_facts *facts, struct buf *out);
/* Read what gpu_arch_json() wrote.  ERR_STORE if it is not a JSON object,
 * ERR_PROTO as gpu_arch_facts_read(). */
int gpu_arch_parse(const char *json, struct gpu_arch_facts *out,
                   struct err *err);

#endif
