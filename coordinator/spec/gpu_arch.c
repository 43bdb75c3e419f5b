#include "coordinator/spec/gpu_arch.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/stored/stored_params.h"

#define GIB (INT64_C(1) << 30)
#define MIB (INT64_C(1) << 20)
#define KIB INT64_C(1024)
#define GB_S INT64_C(1000000000)
#define MHZ INT64_C(1000000)

#define MODEL_SLACK 0.02 /* relative, of the memory: drivers reserve a part */

/* Limits of the architectures: CUDA C++ Programming Guide, table "Technical
 * Specifications per Compute Capability".  For 7.0 and 7.5 it has 2048 and
 * 1024 threads, 32 and 16 blocks, 64 Ki registers, 96 and 64 KiB of shared
 * memory an SM, all of which a block may have (48 KiB without the opt-in).
 * SM count, L2, memory, bandwidth and clock: NVIDIA's data sheet or white
 * paper of the GPU that is named; memory is what the driver reports of it, or
 * the nominal size.  mma: dense fp16 with fp32 accumulate, operations (2 a
 * multiply-add) a clock and SM, from the same white papers; sm_70 reaches it
 * by mma.m8n8k4 and wmma, sm_75 by mma.m16n8k8 at most, since mma.m16n8k16
 * begins with sm_80; sm_90 and sm_100 through mma.sync come to about 62 % of
 * the figure. */
static const struct row {
    const char *gpu;
    struct gpu_arch_facts facts;
} rows[] = {
    { "V100 SXM2 16 GB",
      { .arch = 70,
        .sm_count = 80,
        .smem_per_block = 96 * KIB,
        .smem_per_sm = 96 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 2048,
        .blocks_per_sm = 32,
        .max_threads_per_block = 1024,
        .l2_bytes = 6 * MIB,
        .mem_bytes = 16 * GIB,
        .dram_bytes_per_s = 900 * GB_S,
        .sm_clock_hz = 1530 * MHZ,
        .mma_flops_per_clock_sm = 1024 } },
    { "T4",
      { .arch = 75,
        .sm_count = 40,
        .smem_per_block = 64 * KIB,
        .smem_per_sm = 64 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 1024,
        .blocks_per_sm = 16,
        .max_threads_per_block = 1024,
        .l2_bytes = 4 * MIB,
        .mem_bytes = 16 * GIB,
        .dram_bytes_per_s = 320 * GB_S,
        .sm_clock_hz = 1590 * MHZ,
        .mma_flops_per_clock_sm = 1024 } },
    { "A100 SXM 40 GB",
      { .arch = 80,
        .sm_count = 108,
        .smem_per_block = 163 * KIB,
        .smem_per_sm = 164 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 2048,
        .blocks_per_sm = 32,
        .max_threads_per_block = 1024,
        .l2_bytes = 40 * MIB,
        .mem_bytes = 40 * GIB,
        .dram_bytes_per_s = 1555 * GB_S,
        .sm_clock_hz = 1410 * MHZ,
        .mma_flops_per_clock_sm = 2048 } },
    { "RTX A6000",
      { .arch = 86,
        .sm_count = 84,
        .smem_per_block = 99 * KIB,
        .smem_per_sm = 100 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 1536,
        .blocks_per_sm = 16,
        .max_threads_per_block = 1024,
        .l2_bytes = 6 * MIB,
        .mem_bytes = 48 * GIB,
        .dram_bytes_per_s = 768 * GB_S,
        .sm_clock_hz = 1800 * MHZ,
        .mma_flops_per_clock_sm = 1024 } },
    { "L4",
      { .arch = 89,
        .sm_count = 58,
        .smem_per_block = 99 * KIB,
        .smem_per_sm = 100 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 1536,
        .blocks_per_sm = 24,
        .max_threads_per_block = 1024,
        .l2_bytes = 48 * MIB,
        .mem_bytes = INT64_C(24152899584),
        .dram_bytes_per_s = 300 * GB_S,
        .sm_clock_hz = 2040 * MHZ,
        .mma_flops_per_clock_sm = 1024 } },
    { "H200",
      { .arch = 90,
        .sm_count = 132,
        .smem_per_block = 227 * KIB,
        .smem_per_sm = 228 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 2048,
        .blocks_per_sm = 32,
        .max_threads_per_block = 1024,
        .l2_bytes = 60 * MIB,
        .mem_bytes = 141 * INT64_C(1000000000),
        .dram_bytes_per_s = 4800 * GB_S,
        .sm_clock_hz = 1980 * MHZ,
        .mma_flops_per_clock_sm = 4096 } },
    { "B200",
      { .arch = 100,
        .sm_count = 148,
        .smem_per_block = 227 * KIB,
        .smem_per_sm = 228 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 2048,
        .blocks_per_sm = 32,
        .max_threads_per_block = 1024,
        .l2_bytes = 126 * MIB,
        .mem_bytes = 180 * INT64_C(1000000000),
        .dram_bytes_per_s = 8000 * GB_S,
        .sm_clock_hz = 1965 * MHZ,
        .mma_flops_per_clock_sm = 8192 } },
    { "RTX 5090",
      { .arch = 120,
        .sm_count = 170,
        .smem_per_block = 99 * KIB,
        .smem_per_sm = 100 * KIB,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .threads_per_sm = 1536,
        .blocks_per_sm = 24,
        .max_threads_per_block = 1024,
        .l2_bytes = 96 * MIB,
        .mem_bytes = 32 * GIB,
        .dram_bytes_per_s = 1792 * GB_S,
        .sm_clock_hz = 2407 * MHZ,
        .mma_flops_per_clock_sm = 512 } },
};

enum {
    ROWS = sizeof(rows) / sizeof(rows[0])
};

#define FACT(name)                                   \
    {                                                \
#name, offsetof(struct gpu_arch_facts, name) \
    }

static const struct {
    const char *name;
    size_t offset;
} facts_table[GPU_ARCH_FACTS] = {
    FACT(arch),
    FACT(sm_count),
    FACT(smem_per_block),
    FACT(smem_per_sm),
    FACT(regs_per_block),
    FACT(regs_per_sm),
    FACT(threads_per_sm),
    FACT(blocks_per_sm),
    FACT(max_threads_per_block),
    FACT(l2_bytes),
    FACT(mem_bytes),
    FACT(dram_bytes_per_s),
    FACT(sm_clock_hz),
    FACT(mma_flops_per_clock_sm),
};

const struct gpu_arch_facts *gpu_arch_find(const char *name)
{
    char wanted[16];

    for (size_t i = 0; i < ROWS; i++) {
        snprintf(wanted, sizeof(wanted), "sm_%" PRId64, rows[i].facts.arch);
        if (strcmp(name, wanted) == 0 || strcmp(name, wanted + 3) == 0)
            return &rows[i].facts;
    }
    return NULL;
}

/* The word of a row by which its GPU is called: the first with a digit. */
static const char *word_of(const char *gpu, size_t *len)
{
    while (*len = strcspn(gpu, " "), strcspn(gpu, "0123456789") >= *len)
        gpu += *len + 1;
    return gpu;
}

static bool has_word(const char *name, const char *word, size_t len)
{
    for (size_t n; *name; name += n) {
        while (*name && !isalnum((unsigned char)*name))
            name++;
        for (n = 0; isalnum((unsigned char)name[n]);)
            n++;
        if (n == len && strncasecmp(name, word, len) == 0)
            return true;
    }
    return false;
}

const struct gpu_arch_facts *gpu_arch_find_gpu(const char *name)
{
    const struct gpu_arch_facts *found = NULL;

    for (size_t i = 0; i < ROWS; i++) {
        size_t len;
        const char *word = word_of(rows[i].gpu, &len);

        if (!has_word(name, word, len))
            continue;
        if (found)
            return NULL;
        found = &rows[i].facts;
    }
    return found;
}

const char *gpu_arch_gpu_name(const struct gpu_arch_facts *row)
{
    for (size_t i = 0; i < ROWS; i++)
        if (&rows[i].facts == row)
            return rows[i].gpu;
    return "";
}

int gpu_arch_find_named(const char *name, const struct gpu_arch_facts **out,
                        struct err *err)
{
    struct buf known;
    int rc;

    *out = gpu_arch_find(name);
    if (*out)
        return 0;
    buf_init(&known, 200);
    for (size_t i = 0; i < ROWS; i++)
        buf_printf(&known, "%ssm_%" PRId64, i ? ", " : "", rows[i].facts.arch);
    rc = err_set(err, ERR_INPUT,
                 "unknown architecture '%.32s'; the known ones are %s", name,
                 buf_text(&known));
    buf_fini(&known);
    return rc;
}

const char *gpu_arch_fact_name(size_t fact)
{
    return facts_table[fact].name;
}

int64_t gpu_arch_fact(const struct gpu_arch_facts *facts, size_t fact)
{
    int64_t value;

    memcpy(&value, (const char *)facts + facts_table[fact].offset,
           sizeof(value));
    return value;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool gpu_arch_is_named(const char *text, size_t fact)
{
    const char *name = facts_table[fact].name;
    size_t len = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += len)
        if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[len]))
            return true;
    return false;
}

static void set_fact(struct gpu_arch_facts *facts, size_t fact, int64_t value)
{
    memcpy((char *)facts + facts_table[fact].offset, &value, sizeof(value));
}

static int read_line(const char *line, struct gpu_arch_facts *out,
                     struct err *err)
{
    size_t len = strcspn(line, " ");
    char *end;
    long long value;

    if (len == 0)
        return err_set(err, ERR_PROTO,
                       "fact '%.80s' has no name; a fact is 'NAME VALUE'",
                       line);
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        const char *name = facts_table[i].name;

        if (strlen(name) != len || memcmp(name, line, len) != 0)
            continue;
        errno = 0;
        value = strtoll(line + len, &end, 10);
        if (end == line + len || *end || errno || value < 0)
            return err_set(err, ERR_PROTO, "fact '%.80s' is not a number >= 0",
                           line);
        set_fact(out, i, value);
    }
    return 0;
}

int gpu_arch_facts_read(const struct texts *lines, struct gpu_arch_facts *out,
                        struct err *err)
{
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        set_fact(out, i, GPU_ARCH_UNKNOWN);
    for (size_t i = 0; i < lines->n; i++)
        if (read_line(lines->items[i], out, err) < 0)
            return ERR_PROTO;
    if (out->arch == GPU_ARCH_UNKNOWN)
        return err_set(err, ERR_PROTO, "the fact 'arch' is missing");
    return 0;
}

bool gpu_arch_same_model(const struct gpu_arch_facts *a,
                         const struct gpu_arch_facts *b)
{
    double less = (double)(a->mem_bytes < b->mem_bytes ? a : b)->mem_bytes;
    double more = (double)(a->mem_bytes < b->mem_bytes ? b : a)->mem_bytes;

    return a->arch == b->arch && a->sm_count == b->sm_count &&
           (more - less <= MODEL_SLACK * more ||
            a->mem_bytes == b->mem_bytes); /* both may be unknown */
}

static const char *without_vendor(const char *name)
{
    size_t n = strlen("NVIDIA ");

    return strncmp(name, "NVIDIA ", n) == 0 ? name + n : name;
}

bool gpu_arch_same_name(const char *a, const char *b)
{
    return strcmp(without_vendor(a), without_vendor(b)) == 0;
}

void gpu_arch_describe(const char *name, const struct gpu_arch_facts *facts,
                       char *out, size_t size)
{
    char arch[24] = "", sms[40] = "", memory[40] = "";

    snprintf(out, size, "%.60s", name);
    if (facts->arch <= 0)
        return;
    snprintf(arch, sizeof(arch), "sm_%" PRId64, facts->arch);
    if (facts->sm_count > 0)
        snprintf(sms, sizeof(sms), ", %" PRId64 " SMs", facts->sm_count);
    if (facts->mem_bytes > 0)
        snprintf(memory, sizeof(memory), ", %.0f GiB",
                 (double)facts->mem_bytes / (double)(1 << 30));
    snprintf(out, size, "%.60s (%s%s%s)", name, arch, sms, memory);
}

void gpu_arch_json(const struct gpu_arch_facts *facts, struct buf *out)
{
    buf_printf(out, "{");
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        buf_printf(out, "%s\"%s\": ", i ? ", " : "", facts_table[i].name);
        if (gpu_arch_fact(facts, i) == GPU_ARCH_UNKNOWN)
            buf_printf(out, "null");
        else
            buf_printf(out, "%" PRId64, gpu_arch_fact(facts, i));
    }
    buf_printf(out, "}");
}

int gpu_arch_parse(const char *json, struct gpu_arch_facts *out,
                   struct err *err)
{
    struct stored_params params;
    struct texts lines = { NULL, 0 };
    char **texts;
    int rc = stored_params_parse(json, &params, err);

    if (rc < 0)
        return rc;
    texts = mem_new(params.n + 1, sizeof(*texts));
    for (size_t i = 0; i < params.n; i++)
        if (params.items[i].type == STORED_PARAM_INTEGER)
            texts[lines.n++] =
                mem_printf("%s %s", params.items[i].name, params.items[i].text);
    lines.items = (const char *const *)texts;
    rc = gpu_arch_facts_read(&lines, out, err);
    for (size_t i = 0; i < lines.n; i++)
        free(texts[i]);
    free(texts);
    stored_params_fini(&params);
    return rc;
}
