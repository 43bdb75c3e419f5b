#include "tests/kernels/flash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"
#include "tests/kernels/flash_limits.h"
#include "worker/runner/wire/element.h"

enum {
    HEADS = 4,
    GROUP = 2,
    LAUNCH_TIMEOUT_S = 60
};

#define NAME(macro) [macro] = #macro
static const char *const names[FLASH_MACROS] = {
    NAME(BLOCK_M),       NAME(BLOCK_N),    NAME(BLOCK_K),     NAME(NUM_WARPS),
    NAME(K_STAGES),      NAME(V_STAGES),   NAME(SLICE_N),     NAME(PIPELINE),
    NAME(SLICE_UNROLL),  NAME(UNROLL),     NAME(LOOKAHEAD),   NAME(RESCALE),
    NAME(EXPONENTIAL),   NAME(SUM_BY_MMA), NAME(LAYOUT),      NAME(COPY_BYTES),
    NAME(CP_ASYNC),      NAME(Q_HOME),     NAME(BLOCK_ORDER), NAME(PERSISTENT),
    NAME(STAGED_OUTPUT), NAME(STREAMING),  NAME(MIN_BLOCKS),  NAME(HEAD_DIM),
};

const struct flash_config flash_plain = { {
    [BLOCK_M] = 64,      [BLOCK_N] = 64,    [BLOCK_K] = 64,  [NUM_WARPS] = 4,
    [K_STAGES] = 2,      [V_STAGES] = 2,    [SLICE_N] = 64,  [PIPELINE] = 0,
    [SLICE_UNROLL] = 1,  [UNROLL] = 1,      [LOOKAHEAD] = 1, [RESCALE] = 0,
    [LAYOUT] = 1,        [COPY_BYTES] = 16, [CP_ASYNC] = 1,  [Q_HOME] = 3,
    [STAGED_OUTPUT] = 1, [MIN_BLOCKS] = 1,  [HEAD_DIM] = 64,
} };

/* SMEM_BYTES is not a value of a configuration, so it stays 0. */
static void limits(const struct flash_config *config,
                   int out[FLASH_LIMIT_MACROS])
{
    for (int i = 0; i < FLASH_LIMIT_MACROS; i++) {
        out[i] = 0;
        for (int m = 0; m < FLASH_MACROS; m++)
            if (strcmp(flash_limit_macros[i], names[m]) == 0)
                out[i] = config->values[m];
    }
}

static int smem_bytes(const struct flash_config *config)
{
    int values[FLASH_LIMIT_MACROS];

    limits(config, values);
    return flash_limits_least_smem(values);
}

bool flash_is_legal(const struct flash_config *config)
{
    int values[FLASH_LIMIT_MACROS];

    limits(config, values);
    values[FLASH_LIMIT_MACROS - 1] = flash_limits_least_smem(values);
    return flash_limits_refuse(values) == 0;
}

void flash_params(const struct flash_config *config, char text[FLASH_TEXT_MAX])
{
    int n = 0;

    for (int m = 0; m < FLASH_MACROS; m++)
        n += snprintf(text + n, (size_t)(FLASH_TEXT_MAX - n), "#define %s %d\n",
                      names[m], config->values[m]);
    n += snprintf(text + n, (size_t)(FLASH_TEXT_MAX - n),
                  "#define SMEM_BYTES %d\n", smem_bytes(config));
    assert_in_range(n, 1, FLASH_TEXT_MAX - 1);
}

static int64_t q_elements(const struct flash_problem *p)
{
    return (int64_t)HEADS * p->seq * p->head_dim;
}

/* Multiply one row of each of the heads, of seq * width elements. */
static void raise_row(struct device_buffer *heads, int n, int seq, int width,
                      int row)
{
    void *base = device_address(heads);

    for (int h = 0; h < n; h++)
        for (int i = 0; i < width; i++) {
            const int64_t at = ((int64_t)h * seq + row) * width + i;

            element_store(base, ELEMENT_FP16, at,
                          32 * element_load(base, ELEMENT_FP16, at));
        }
}

static struct device_buffer *filled(const char *name, unsigned stream,
                                    double gain, int64_t n)
{
    struct device_buffer *buffer = fixture_buffer(name, ELEMENT_FP16, n);
    struct device_err err;

    assert_int_equal(
        device_fill(NULL, buffer,
                    &(struct fill){ .kind = FILL_NORMAL, .scale = gain },
                    fill_key(1, stream), &err),
        0);
    return buffer;
}

static void seal(struct device_buffer *buffer)
{
    struct device_err err;

    assert_int_equal(device_guard(NULL, buffer, DEVICE_READ, &err), 0);
}

/* The caller gives kernel, grid, block and smem. */
static int launch(struct device_launch what, const struct flash_problem *p,
                  struct device_buffer *out, struct device_err *err)
{
    void *addresses[4] = { device_address(p->q), device_address(p->k),
                           device_address(p->v), device_address(out) };
    int seq = p->seq, causal = p->causal, heads = HEADS, group = GROUP;
    int head_dim = p->head_dim;
    void *args[9] = { &addresses[0], &addresses[1], &addresses[2],
                      &addresses[3], &seq,          &causal,
                      &heads,        &group,        &head_dim };

    what.args = args;
    what.n_args = 9;
    return device_run(NULL, &what, LAUNCH_TIMEOUT_S, err);
}

void flash_problem_init(struct flash_problem *p,
                        struct device_kernel *reference)
{
    const unsigned blocks = (unsigned)(p->seq + 63) / 64;
    struct device_err err;

    p->q = filled("Q", 0, p->gain, q_elements(p));
    p->k = filled("K", 1, 1, q_elements(p) / GROUP);
    p->v = filled("V", 2, 1, q_elements(p) / GROUP);
    if (p->peak > 0)
        raise_row(p->k, HEADS / GROUP, p->seq, p->head_dim, p->peak);
    seal(p->q);
    seal(p->k);
    seal(p->v);
    p->want = fixture_buffer("want", ELEMENT_FP64, q_elements(p));
    if (launch((struct device_launch){ .kernel = reference,
                                       .grid = { blocks, HEADS, 1 },
                                       .block = { 64, 1, 1 } },
               p, p->want, &err) < 0)
        fail_msg("%s", err.text);
}

void flash_problem_fini(struct flash_problem *p)
{
    device_free(NULL, p->q);
    device_free(NULL, p->k);
    device_free(NULL, p->v);
    device_free(NULL, p->want);
}

/* As the sweep files say it. */
static void grid(const struct flash_config *config,
                 const struct flash_problem *p, unsigned blocks,
                 unsigned out[3])
{
    const int *v = config->values;
    const unsigned tiles = (unsigned)((p->seq + v[BLOCK_M] - 1) / v[BLOCK_M]);
    const bool heads_first =
        v[BLOCK_ORDER] == 1 || (v[BLOCK_ORDER] == 2 && p->causal);

    out[2] = 1;
    if (v[PERSISTENT]) {
        out[0] = blocks < HEADS * tiles ? blocks : HEADS * tiles;
        out[1] = 1;
    } else {
        out[0] = heads_first ? HEADS : tiles;
        out[1] = heads_first ? tiles : HEADS;
    }
}

int flash_launch(const struct flash_config *config,
                 struct device_kernel *kernel, const struct flash_problem *p,
                 unsigned blocks, struct device_buffer *out,
                 struct device_err *err)
{
    struct device_launch what = {
        .kernel = kernel,
        .block = { (unsigned)config->values[NUM_WARPS] * 32, 1, 1 },
        .smem = (size_t)smem_bytes(config)
    };

    grid(config, p, blocks, what.grid);
    return launch(what, p, out, err);
}

void flash_check(const struct flash_config *config,
                 struct device_kernel *kernel, const struct flash_problem *p,
                 unsigned blocks)
{
    struct device_buffer *out =
        fixture_buffer("out", ELEMENT_FP16, q_elements(p));
    char text[FLASH_TEXT_MAX];
    const struct check_how how = { .infinities = false };
    struct check check;
    struct device_scan scan = { .buffer = out };
    struct device_err err;

    flash_params(config, text);
    if (flash_launch(config, kernel, p, blocks, out, &err) < 0)
        fail_msg("%sseq %d, causal %d: %s", text, p->seq, p->causal, err.text);
    assert_int_equal(device_scan(NULL, &scan, 1, &err), 0);
    assert_int_equal(scan.overrun, 0);
    assert_int_equal(device_check(NULL, out, p->want, &how, &check, NULL, &err),
                     0);
    device_free(NULL, out);
    if (!(check.relative_l2 <= 5e-4 &&
          check.max_error <= 1e-2)) /* as in the
                                     * sweep files */
        fail_msg("%sseq %d, causal %d: relative L2 %.3g; element %lld is %g, "
                 "not %g",
                 text, p->seq, p->causal, check.relative_l2,
                 (long long)check.max_at, check.got, check.want);
}
