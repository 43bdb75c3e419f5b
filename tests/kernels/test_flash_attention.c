/* Every configuration of kernels/flash_attention that passes its gates, run by
 * the emulator and compared with the reference at sizes that divide nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"
#include "worker/runner/emulator/emulator.h"

#define KERNEL "kernels/flash_attention/flash_attention.cu"
#define REFERENCE "kernels/flash_attention/reference.cu"

enum {
    D = 64,
    HEADS = 2,
    LAUNCH_TIMEOUT_S = 60
};

struct config {
    int block_m, block_n, warps, stages, swizzle;
};

static const struct config passing[] = {
    { 64, 64, 4, 2, 0 },   { 64, 64, 4, 2, 1 },   { 64, 64, 4, 3, 0 },
    { 64, 64, 4, 3, 1 },   { 64, 128, 4, 2, 0 },  { 64, 128, 4, 2, 1 },
    { 64, 128, 4, 3, 0 },  { 64, 128, 4, 3, 1 },  { 128, 64, 4, 2, 0 },
    { 128, 64, 4, 2, 1 },  { 128, 64, 4, 3, 0 },  { 128, 64, 4, 3, 1 },
    { 128, 128, 4, 2, 0 }, { 128, 128, 4, 2, 1 }, { 128, 128, 4, 3, 0 },
    { 128, 128, 4, 3, 1 }, { 128, 64, 8, 2, 0 },  { 128, 64, 8, 2, 1 },
    { 128, 64, 8, 3, 0 },  { 128, 64, 8, 3, 1 },  { 128, 128, 8, 2, 0 },
    { 128, 128, 8, 2, 1 }, { 128, 128, 8, 3, 0 }, { 128, 128, 8, 3, 1 },
};

enum {
    N_PASSING = sizeof(passing) / sizeof(passing[0])
};

/* Q, K and V of one shape, and what comes of them */
struct problem {
    int seq, causal;
    double gain; /* of Q: 16 makes scores that overflow without a maximum */
    struct device_buffer *q, *k, *v, *want;
};

/* 449: more steps than any ring has stages, so that slots are used again */
static struct problem problems[] = {
    { .seq = 1, .causal = 0, .gain = 1 },
    { .seq = 1, .causal = 1, .gain = 1 },
    { .seq = 17, .causal = 0, .gain = 1 },
    { .seq = 17, .causal = 1, .gain = 1 },
    { .seq = 63, .causal = 0, .gain = 1 },
    { .seq = 63, .causal = 1, .gain = 1 },
    { .seq = 64, .causal = 0, .gain = 1 },
    { .seq = 64, .causal = 1, .gain = 1 },
    { .seq = 65, .causal = 0, .gain = 1 },
    { .seq = 65, .causal = 1, .gain = 1 },
    { .seq = 127, .causal = 0, .gain = 1 },
    { .seq = 127, .causal = 1, .gain = 1 },
    { .seq = 128, .causal = 0, .gain = 1 },
    { .seq = 128, .causal = 1, .gain = 1 },
    { .seq = 129, .causal = 0, .gain = 1 },
    { .seq = 129, .causal = 1, .gain = 1 },
    { .seq = 257, .causal = 0, .gain = 16 },
    { .seq = 257, .causal = 1, .gain = 16 },
    { .seq = 449, .causal = 0, .gain = 1 },
    { .seq = 449, .causal = 1, .gain = 1 },
};

enum {
    N_PROBLEMS = sizeof(problems) / sizeof(problems[0])
};

static int64_t elements(const struct problem *p)
{
    return (int64_t)HEADS * p->seq * D;
}

static struct device_buffer *filled(const char *name, unsigned stream,
                                    double gain, int64_t n)
{
    struct device_buffer *buffer = fixture_buffer(name, ELEMENT_FP16, n);
    struct device_err err;

    assert_int_equal(device_fill(NULL, buffer,
                                 &(struct fill){ FILL_NORMAL, gain, 0, 0 },
                                 fill_key(1, stream), &err),
                     0);
    assert_int_equal(device_seal(NULL, buffer, true, &err), 0);
    return buffer;
}

/* The caller gives kernel, grid, block and smem. */
static void launch(struct device_launch what, const struct problem *p,
                   struct device_buffer *out)
{
    void *addresses[4] = { device_address(p->q), device_address(p->k),
                           device_address(p->v), device_address(out) };
    int seq = p->seq, causal = p->causal;
    void *args[6] = { &addresses[0], &addresses[1], &addresses[2],
                      &addresses[3], &seq,          &causal };
    struct device_err err;
    uint64_t sum;
    int64_t overrun;

    what.args = args;
    what.n_args = 6;
    if (device_run(NULL, &what, LAUNCH_TIMEOUT_S, &err) < 0)
        fail_msg("seq %d causal %d: %s", seq, causal, err.text);
    assert_int_equal(device_checksum(NULL, out, &sum, &overrun, &err), 0);
    assert_int_equal(overrun, 0);
}

static int make_problems(void **state)
{
    struct device_kernel *reference = fixture_load(
        "flash_reference", REFERENCE, "flash_attention_reference", "");

    (void)state;
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        struct problem *p = &problems[i];
        const unsigned blocks = (unsigned)(p->seq + 63) / 64;

        p->q = filled("Q", 0, p->gain, elements(p));
        p->k = filled("K", 1, 1, elements(p));
        p->v = filled("V", 2, 1, elements(p));
        p->want = fixture_buffer("want", ELEMENT_FP64, elements(p));
        launch((struct device_launch){ .kernel = reference,
                                       .grid = { blocks, HEADS, 1 },
                                       .block = { 64, 1, 1 } },
               p, p->want);
    }
    device_unload(NULL, reference);
    return 0;
}

static int free_problems(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        device_free(NULL, problems[i].q);
        device_free(NULL, problems[i].k);
        device_free(NULL, problems[i].v);
        device_free(NULL, problems[i].want);
    }
    return 0;
}

static size_t config_smem(const struct config *c)
{
    return (size_t)(2 * c->stages * c->block_n * 2 * D);
}

static void config_name(const struct config *c, char *name, size_t size)
{
    snprintf(name, size, "flash_m%d_n%d_w%d_s%d_x%d", c->block_m, c->block_n,
             c->warps, c->stages, c->swizzle);
}

static void config_params(const struct config *c, char *text, size_t size)
{
    snprintf(text, size,
             "#define BLOCK_M %d\n#define BLOCK_N %d\n#define NUM_WARPS %d\n"
             "#define STAGES %d\n#define SWIZZLE %d\n"
             "#define HEAD_DIM %d\n#define SMEM_BYTES %zu\n",
             c->block_m, c->block_n, c->warps, c->stages, c->swizzle, D,
             config_smem(c));
}

static struct device_kernel *config_load(const struct config *c)
{
    char name[64], params[400];

    config_name(c, name, sizeof(name));
    config_params(c, params, sizeof(params));
    return fixture_load(name, KERNEL, "flash_attention", params);
}

static void config_run(const struct config *c, struct device_kernel *kernel,
                       const struct problem *p, struct device_buffer *out)
{
    const unsigned tiles = (unsigned)((p->seq + c->block_m - 1) / c->block_m);

    launch((struct device_launch){ .kernel = kernel,
                                   .grid = { tiles * HEADS, 1, 1 },
                                   .block = { (unsigned)c->warps * 32, 1, 1 },
                                   .smem = config_smem(c) },
           p, out);
}

static struct check config_check(const struct config *c,
                                 struct device_kernel *kernel,
                                 const struct problem *p)
{
    struct device_buffer *out =
        fixture_buffer("out", ELEMENT_FP16, elements(p));
    struct check check;
    struct device_err err;
    char name[64];

    config_run(c, kernel, p, out);
    assert_int_equal(device_check(NULL, out, p->want, &check, &err), 0);
    device_free(NULL, out);
    config_name(c, name, sizeof(name));
    if (!check_passes(&check, 5e-4, 1e-2)) /* as in the sweep file */
        fail_msg("%s, seq %d, causal %d: relative L2 %.3g; element %lld is "
                 "%g, not %g",
                 name, p->seq, p->causal, check.relative_l2,
                 (long long)check.max_at, check.got, check.want);
    return check;
}

static void every_configuration_matches_the_reference(void **state)
{
    double relative_l2 = 0, max_error = 0;

    (void)state;
    for (size_t i = 0; i < N_PASSING; i++) {
        struct device_kernel *kernel = config_load(&passing[i]);

        for (size_t j = 0; j < N_PROBLEMS; j++) {
            const struct check check =
                config_check(&passing[i], kernel, &problems[j]);

            relative_l2 = fmax(relative_l2, check.relative_l2);
            max_error = fmax(max_error, check.max_error);
        }
        device_unload(NULL, kernel);
    }
    print_message("worst relative L2 %.3g, worst element %.3g\n", relative_l2,
                  max_error);
}

static double input(const struct device_buffer *buffer, int i)
{
    return element_load(device_address(buffer), ELEMENT_FP16, i);
}

/* The reference against the definition, written once more. */
static void reference_is_the_softmax_of_scaled_scores(void **state)
{
    const struct problem *p = &problems[3]; /* seq 17, causal */
    const double *want = device_address(p->want);
    const int first = p->seq * D; /* of the second head */
    const int row = 11, column = 5;
    double sum = 0, weighted = 0;

    (void)state;
    for (int j = 0; j <= row; j++) {
        double score = 0;

        for (int d = 0; d < D; d++)
            score += input(p->q, first + row * D + d) *
                     input(p->k, first + j * D + d);
        sum += exp(score / 8);
        weighted += exp(score / 8) * input(p->v, first + j * D + column);
    }
    assert_true(fabs(want[first + row * D + column] - weighted / sum) < 1e-12);
}

static double config_conflicts(const struct config *c)
{
    const struct problem *p = &problems[N_PROBLEMS - 1];
    struct device_kernel *kernel = config_load(c);

    config_check(c, kernel, p);
    device_unload(NULL, kernel);
    return emulator_bank_conflicts();
}

/* What the gate bank_conflicts says. */
static void plain_rows_have_bank_conflicts_and_swizzled_ones_none(void **state)
{
    const struct config plain = { 64, 64, 4, 2, 0 };
    const struct config swizzled = { 64, 64, 4, 2, 1 };

    (void)state;
    assert_true(config_conflicts(&plain) == 8);
    assert_true(config_conflicts(&swizzled) == 1);
}

static int syntax_check(const char *warps, const char *smem)
{
    return fixture_command((const char *[]){
        "c++", "-std=c++17", "-w", "-fsyntax-only", "-x", "c++", "-I",
        FA_SOURCE_DIR "/kernels/include", "-include", "fa/emulation.h",
        "-DBLOCK_M=64", "-DBLOCK_N=64", warps, "-DSTAGES=2", "-DSWIZZLE=1",
        "-DHEAD_DIM=64", smem, FA_SOURCE_DIR "/" KERNEL, NULL });
}

/* The errors that the compiler prints are the ones expected. */
static void what_the_gates_reject_does_not_compile(void **state)
{
    (void)state;
    assert_int_equal(syntax_check("-DNUM_WARPS=4", "-DSMEM_BYTES=32768"), 0);
    assert_int_not_equal(syntax_check("-DNUM_WARPS=8", "-DSMEM_BYTES=32768"),
                         0);
    assert_int_not_equal(syntax_check("-DNUM_WARPS=4", "-DSMEM_BYTES=16384"),
                         0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_the_softmax_of_scaled_scores),
        cmocka_unit_test(every_configuration_matches_the_reference),
        cmocka_unit_test(plain_rows_have_bank_conflicts_and_swizzled_ones_none),
        cmocka_unit_test(what_the_gates_reject_does_not_compile),
    };

    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
