/* gpu_arch.h - what the rules of a sweep may know of a GPU
 *
 * Facts come from the GPU where one is reached, else from a table with one
 * well-known GPU for each architecture.  Their names are names in SQL.
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
    int64_t smem_per_block; /* bytes, on request */
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

/* The row of the table for "sm_89" or "89"; NULL when there is none. */
const struct gpu_arch_facts *gpu_arch_find(const char *name);
/* The same for what a user typed: ERR_INPUT lists what there is. */
int gpu_arch_find_named(const char *name, const struct gpu_arch_facts **out,
                        struct err *err);
const char *
gpu_arch_gpu_name(const struct gpu_arch_facts *row); /* of the table */

const char *gpu_arch_fact_name(size_t fact); /* fact < GPU_ARCH_FACTS */
int64_t gpu_arch_fact(const struct gpu_arch_facts *facts, size_t fact);

/* From the lines "NAME VALUE" of a GPU message.  Names that are no fact are
 * skipped, facts that are not there are GPU_ARCH_UNKNOWN.  ERR_PROTO when a
 * value is no number, or when 'arch' is missing. */
int gpu_arch_facts_read(const struct texts *lines, struct gpu_arch_facts *out,
                        struct err *err);
/* Same capability, SM count and memory (within 2 %: drivers keep some). */
bool gpu_arch_same_model(const struct gpu_arch_facts *a,
                         const struct gpu_arch_facts *b);
void gpu_arch_json(const struct gpu_arch_facts *facts, struct buf *out);

#endif
