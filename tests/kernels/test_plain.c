/* Kernels as their authors write them for nvcc, with nothing of ours in them,
 * run on the cpu device as they are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <fnmatch.h>

#include "tests/kernels/fixture.h"
#include "worker/runner/device/cpu_buffer.h"

#define FOLDER "tests/fixtures/kernels/plain/"

enum {
    ARGS_MAX = 6,
    LIMIT_S = 60 /* a busy machine must not end what is right */
};

struct dims {
    unsigned x, y;
};

/* Load, launch once, unload. */
static void run(const char *name, struct dims grid, struct dims block,
                size_t smem, void **args, size_t n_args)
{
    char source[80];
    struct device_err err;
    struct device_launch launch = { .grid = { grid.x, grid.y, 1 },
                                    .block = { block.x, block.y, 1 },
                                    .smem = smem,
                                    .args = args,
                                    .n_args = n_args };

    snprintf(source, sizeof(source), FOLDER "%s.cu", name);
    launch.kernel = fixture_load(name, source, name, "");
    if (device_run(NULL, &launch, LIMIT_S, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    device_unload(NULL, launch.kernel);
}

/* Small numbers, positive and negative, exact in every type. */
static double value(int64_t i)
{
    return (double)(i * 7 % 32 - 15) / 8;
}

static void fill(const struct device_buffer *buffer, enum element_type type,
                 int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        element_store(device_address(buffer), type, i, value(i));
}

static void assert_near(double got, double want, double tolerance,
                        const char *what, int i)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s %d is %.9g, should be %.9g", what, i, got, want);
}

static void histogram_counts_with_atomics(void **state)
{
    enum {
        N = 5001,
        BINS = 100
    };
    struct device_buffer *x = fixture_buffer("x", ELEMENT_INT8, N);
    struct device_buffer *counts =
        fixture_buffer("counts", ELEMENT_INT32, BINS);
    unsigned char *bytes = device_address(x);
    unsigned *found = device_address(counts), want[BINS] = { 0 };
    int n = N, bins = BINS;
    void *p[2] = { bytes, found };

    (void)state;
    memset(found, 0, sizeof(want));
    for (int i = 0; i < N; i++) {
        bytes[i] = (unsigned char)(i * i / 3);
        want[bytes[i] * BINS / 256]++;
    }
    run("histogram", (struct dims){ 3, 1 }, (struct dims){ 256, 1 },
        sizeof(want), (void *[]){ &p[0], &n, &bins, &p[1] }, 4);
    assert_memory_equal(found, want, sizeof(want));
    device_free(NULL, x);
    device_free(NULL, counts);
}

static void layernorm_reduces_by_shuffles(void **state)
{
    enum {
        ROWS = 3,
        COLUMNS = 1020
    };
    static const struct {
        const char *name;
        int64_t count;
    } arrays[5] = { { "x", ROWS * COLUMNS },
                    { "gain", COLUMNS },
                    { "y", ROWS * COLUMNS },
                    { "mean", ROWS },
                    { "rstd", ROWS } };
    struct device_buffer *buffers[5];
    int columns = COLUMNS;
    float *p[5];

    (void)state;
    for (int i = 0; i < 5; i++) {
        buffers[i] =
            fixture_buffer(arrays[i].name, ELEMENT_FP32, arrays[i].count);
        p[i] = device_address(buffers[i]);
        if (i < 2)
            fill(buffers[i], ELEMENT_FP32, arrays[i].count);
    }
    run("layernorm", (struct dims){ ROWS, 1 }, (struct dims){ 128, 1 }, 0,
        (void *[]){ &p[0], &p[1], &columns, &p[2], &p[3], &p[4] }, 6);
    for (int r = 0; r < ROWS; r++) {
        const float *x = p[0] + r * COLUMNS;
        double mean = 0, variance = 0, rstd;

        for (int i = 0; i < COLUMNS; i++)
            mean += (double)x[i] / COLUMNS;
        for (int i = 0; i < COLUMNS; i++)
            variance += ((double)x[i] - mean) * ((double)x[i] - mean) / COLUMNS;
        rstd = 1 / sqrt(variance + 1e-5);
        assert_near((double)p[3][r], mean, 1e-6, "mean", r);
        assert_near((double)p[4][r], rstd, 1e-6, "rstd", r);
        for (int i = 0; i < COLUMNS; i++)
            assert_near((double)p[2][r * COLUMNS + i],
                        ((double)x[i] - mean) * rstd * (double)p[1][i], 1e-5,
                        "y", r * COLUMNS + i);
    }
    for (int i = 0; i < 5; i++)
        device_free(NULL, buffers[i]);
}

static void gemm_uses_halves_in_static_shared_memory(void **state)
{
    enum {
        M = 35,
        N = 17,
        K = 40
    };
    struct device_buffer *a = fixture_buffer("A", ELEMENT_FP16, M * K);
    struct device_buffer *b = fixture_buffer("B", ELEMENT_FP16, K * N);
    struct device_buffer *c = fixture_buffer("C", ELEMENT_FP16, M * N);
    void *p[3] = { device_address(a), device_address(b), device_address(c) };
    int m = M, n = N, k = K;

    (void)state;
    fill(a, ELEMENT_FP16, M * K);
    fill(b, ELEMENT_FP16, K * N);
    run("gemm", (struct dims){ 2, 3 }, (struct dims){ 16, 16 }, 0,
        (void *[]){ &p[0], &p[1], &p[2], &m, &n, &k }, 6);
    for (int i = 0; i < M * N; i++) {
        double sum = 0;

        for (int j = 0; j < K; j++)
            sum += value(i / N * K + j) * value(j * N + i % N);
        assert_near(element_load(p[2], ELEMENT_FP16, i), sum, 0.04, "C", i);
    }
    device_free(NULL, a);
    device_free(NULL, b);
    device_free(NULL, c);
}

static void scale_works_in_place(void **state)
{
    enum {
        PAIRS = 1001
    };
    struct device_buffer *x = fixture_buffer("x", ELEMENT_FP16, 2 * PAIRS);
    void *p = device_address(x);
    float s = 1.5f;
    int pairs = PAIRS;

    (void)state;
    fill(x, ELEMENT_FP16, 2 * PAIRS);
    run("scale", (struct dims){ 4, 1 }, (struct dims){ 256, 1 }, 0,
        (void *[]){ &p, &s, &pairs }, 3);
    for (int i = 0; i < 2 * PAIRS; i++)
        assert_near(element_load(p, ELEMENT_FP16, i), 1.5 * value(i), 0, "x",
                    i);
    device_free(NULL, x);
}

static void spmv_sums_doubles_of_a_warp(void **state)
{
    enum {
        ROWS = 37,
        ENTRIES = ROWS * (ROWS - 1) / 2
    };
    struct device_buffer *buffers[5] = {
        fixture_buffer("starts", ELEMENT_INT32, ROWS + 1),
        fixture_buffer("columns", ELEMENT_INT32, ENTRIES),
        fixture_buffer("values", ELEMENT_FP64, ENTRIES),
        fixture_buffer("x", ELEMENT_FP64, ROWS),
        fixture_buffer("y", ELEMENT_FP64, ROWS)
    };
    void *p[5];
    int rows = ROWS, at = 0;
    double want[ROWS] = { 0 };

    (void)state;
    for (int i = 0; i < 5; i++)
        p[i] = device_address(buffers[i]);
    fill(buffers[2], ELEMENT_FP64, ENTRIES);
    fill(buffers[3], ELEMENT_FP64, ROWS);
    for (int r = 0; r < ROWS; r++) { /* row r has r entries */
        ((int *)p[0])[r] = at;
        for (int i = 0; i < r; i++, at++) {
            ((int *)p[1])[at] = (r + 3 * i) % ROWS;
            want[r] += value(at) * value((r + 3 * i) % ROWS);
        }
    }
    ((int *)p[0])[ROWS] = at;
    run("spmv", (struct dims){ 2, 1 }, (struct dims){ 96, 1 }, 0,
        (void *[]){ &p[0], &p[1], &p[2], &p[3], &p[4], &rows }, 6);
    for (int r = 0; r < ROWS; r++)
        assert_near(((double *)p[4])[r], want[r], 1e-12, "y", r);
    for (int i = 0; i < 5; i++)
        device_free(NULL, buffers[i]);
}

/* The kernel compares with literals.  nvcc compiles it, too (below); that a GPU
 * computes the same is not shown here. */
static void checks_itself(const char *name, struct dims block, size_t smem)
{
    struct device_buffer *failed = fixture_buffer("failed", ELEMENT_INT32, 1);
    int *line = device_address(failed);
    void *p = line;
    int one = 1;

    *line = 0;
    run(name, (struct dims){ 1, 1 }, block, smem, (void *[]){ &p, &one }, 2);
    if (*line != 0)
        fail_msg(FOLDER "%s.cu:%d", name, *line);
    device_free(NULL, failed);
}

static void each_piece_of_the_dialect_is_right(void **state)
{
    (void)state;
    checks_itself("dialect", (struct dims){ 64, 1 }, 256);
}

static void each_piece_of_cooperative_groups_is_right(void **state)
{
    (void)state;
    checks_itself("groups", (struct dims){ 16, 5 }, 0);
}

static void each_piece_of_asynchronous_copies_is_right(void **state)
{
    (void)state;
    checks_itself("copies", (struct dims){ 64, 1 }, 1024);
}

static void each_reduction_and_scan_of_cub_is_right(void **state)
{
    (void)state;
    checks_itself("cubs", (struct dims){ 80, 1 }, 0);
}

static void each_kind_of_matrix_is_multiplied(void **state)
{
    (void)state;
    checks_itself("wmma_kinds", (struct dims){ 32, 1 }, 0);
}

/* Each letter, each pair of capitals, and words that headers like. */
static void a_tunable_may_have_any_name(void **state)
{
    static const char words[] =
        "block grid index args check type line file at array of from left sum "
        "bits word near up down mask value values lane lanes width format pair "
        "scalar kernel unordered";
    static char params[32 * 1024];
    char one[] = "#define A 1\n", two[] = "#define AA 1\n", word[16];
    size_t len = 0;
    int used;

    (void)state;
    for (char c = 'A'; c <= 'Z'; c++) {
        one[8] = two[8] = c;
        len += (size_t)snprintf(params + len, sizeof(params) - len, "%s", one);
        for (two[9] = 'A'; two[9] <= 'Z'; two[9]++)
            len +=
                (size_t)snprintf(params + len, sizeof(params) - len, "%s", two);
    }
    for (one[8] = 'a'; one[8] < 'x'; one[8]++) /* x is a member */
        len += (size_t)snprintf(params + len, sizeof(params) - len, "%s", one);
    for (const char *w = words; sscanf(w, "%15s%n", word, &used) == 1;
         w += used)
        len += (size_t)snprintf(params + len, sizeof(params) - len,
                                "#define %s 1\n", word);
    assert_true(fixture_builds("macros", FOLDER "macros.cu", "macros", params));
}

enum {
    BLOCKS = 2,
    NUMBERS = 60 /* a block */
};

static const char *const texts[] = {
    NULL,
    "out of bounds: write of byte 1 after the end of dynamic shared memory "
    "(240 bytes long) by a thread of block (*,0,0)",
    "out of bounds 0x*: write of 'dynamic shared memory' + 8000 (240 bytes "
    "long) by thread (3,0,0) of block (*,0,0)",
    NULL, /* is seen in the output */
    "shfl_idx: the mask 0x00000007 does not name the lane of thread (3,0,0) of "
    "block (*,0,0), faults.cu:*",
    "divergence: thread (*,0,0) of block (*,0,0) is at shfl_idx, faults.cu:*, "
    "but thread (*,0,0) of its warp is at shfl_idx, faults.cu:*; the masks are "
    "0x0000000[7f] and 0x0000000[7f]",
    "*", /* ends by its time limit */
    "trap by thread (40,0,0) of block (*,0,0), faults.cu:27",
    "not shared memory 0x*: 4-byte asynchronous write of 'out' + 0 by thread "
    "(0,0,0) of block (*,0,0), faults.cu:29",
    "misaligned address 0x*: 8-byte asynchronous write of 'dynamic shared "
    "memory' + 4 by thread (3,0,0) of block (*,0,0), faults.cu:31",
    NULL, /* is seen in the output */
    "trap by thread (*,0,0) of block (*,0,0), faults.cu:37",
};

static void bugs_of_plain_kernels_are_found(void **state)
{
    struct device_buffer *in = fixture_buffer("in", ELEMENT_FP32, 120);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP32, 120);
    void *p[2] = { device_address(in), device_address(out) };
    const float *found = p[1];
    int fault;
    void *args[3] = { &p[0], &p[1], &fault };
    struct device_launch launch = { .grid = { BLOCKS, 1, 1 },
                                    .block = { 64, 1, 1 },
                                    .smem = 4 * NUMBERS,
                                    .args = args,
                                    .n_args = 3 };

    (void)state;
    fill(in, ELEMENT_FP32, 120);
    assert_true(
        fixture_builds("plain_faults", FOLDER "faults.cu", "faults", ""));
    for (fault = 0; fault < 12; fault++) {
        struct device_err err = { .text = "" };
        int rc;

        launch.kernel = fixture_load_again("plain_faults");
        rc = device_run(NULL, &launch, fault == 6 ? 0.1 : LIMIT_S, &err);
        device_unload(NULL, launch.kernel);
        assert_int_equal(rc == DEVICE_TIMEOUT, fault == 6);
        if (texts[fault] ? rc == 0 || fnmatch(texts[fault], err.text, 0) != 0
                         : rc != 0)
            fail_msg("fault %d: %d, %s", fault, rc, err.text);
        if (fault == 0)
            for (int i = 0; i < BLOCKS * NUMBERS; i++)
                assert_near((double)found[i],
                            value(i / NUMBERS * NUMBERS + 59 - i % NUMBERS), 0,
                            "out", i);
        if (fault == 3 || fault == 10)
            assert_true(isnan(found[NUMBERS]));
    }
    device_free(NULL, in);
    device_free(NULL, out);
}

/* NULL: honest */
static const char *const order_texts[] = {
    NULL,
    "the order of blocks changes the result: 'out'\\[0] is * in one order, and "
    "* "
    "in another",
    NULL,
    "the order of blocks changes the result: 'out'\\[0] is * in one order, and "
    "* "
    "in another",
    NULL,
    "the order of a block's threads changes the result: 'out'\\[0] is 32 in "
    "one "
    "order, and 0 in another",
    NULL,
    NULL,
    NULL,
    NULL,
    "the order of blocks changes the result: 'out'\\[0] is * in one order, and "
    "* "
    "in another",
    NULL,
    NULL,
    NULL,
    "blocks that run at the same time change the result: 'out'\\[0] is 5 in "
    "one order, and 3 in another",
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    "time is up in thread (0,0,0) of block (*,0,0); 4 more blocks wait for "
    "others in launch 1 of the kernel*",
    "blocks that run at the same time change the result: 'out'\\[0] is 5 in "
    "one order, and 3 in another",
    "blocks that run at the same time change the result: 'sums'\\[0] is *",
    "blocks that run at the same time change the result: 'out'\\[0] is 4 in "
    "one order, and 3 in another",
    "threads of a block that run at the same time change the result: "
    "'out'\\[0] is 64 in one order, and 32 in another",
    "threads of a block that run at the same time change the result: "
    "'out'\\[0] is 64 in one order, and 32 in another",
    NULL,
    NULL,
    NULL,
    NULL,
};

enum {
    ORDER_ENDLESS = 20
};

static void dependence_on_the_order_is_found(void **state)
{
    enum {
        N = 5 * 64
    };
    struct device_buffer *in = fixture_buffer("in", ELEMENT_FP32, N);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP32, N);
    struct device_buffer *sums = fixture_buffer("sums", ELEMENT_FP32, 1);
    struct device_buffer *counts = fixture_buffer("counts", ELEMENT_INT32, 2);
    struct device_buffer *references[2] = {
        /* counts has none */
        fixture_buffer("out", ELEMENT_FP64, N),
        fixture_buffer("sums", ELEMENT_FP64, 1)
    };
    void *p[4] = { device_address(in), device_address(out),
                   device_address(sums), device_address(counts) };
    int kind;
    void *args[5] = { &p[0], &p[1], &p[2], &p[3], &kind };
    struct device_launch launch = {
        .grid = { 5, 1, 1 }, .block = { 64, 1, 1 }, .args = args, .n_args = 5
    };
    const int n = (int)(sizeof(order_texts) / sizeof(order_texts[0]));

    (void)state;
    assert_true(fixture_builds("orders", FOLDER "orders.cu", "orders", ""));
    for (int i = 0; i < N; i++) /* 1 + 3e-8 is 1, and 4 * 3e-8 + 1 is not */
        ((float *)p[0])[i] = i < 64 ? 1 : 3e-8f;
    for (kind = 0; kind < n; kind++) {
        struct device_err err = { .text = "" };
        const char *text = order_texts[kind];
        int rc;

        memset(p[1], 0, N * sizeof(float));
        memset(p[2], 0, sizeof(float));
        memset(p[3], 0, 2 * sizeof(int));
        launch.kernel = fixture_load_again("orders");
        rc = device_run(NULL, &launch, kind == ORDER_ENDLESS ? 0.1 : LIMIT_S,
                        &err);
        if (text ? rc == 0 || fnmatch(text, err.text, 0) != 0 : rc != 0)
            fail_msg("kind %d: %d, %s", kind, rc, err.text);
        if (rc != 0)
            assert_int_equal(rc, kind == ORDER_ENDLESS ? DEVICE_TIMEOUT
                                                       : DEVICE_WRONG);
        device_unload(NULL, launch.kernel);
    }
    device_free(NULL, in);
    device_free(NULL, out);
    device_free(NULL, sums);
    device_free(NULL, counts);
    device_free(NULL, references[0]);
    device_free(NULL, references[1]);
}

/* Another problem has a workspace of the same name and type. */
static void a_workspace_is_no_output(void **state)
{
    struct device_buffer *other = fixture_buffer("part", ELEMENT_FP64, 8);
    struct device_buffer *part = fixture_buffer("part", ELEMENT_FP64, 8);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP64, 8);
    struct device_buffer *want = fixture_buffer("out", ELEMENT_FP64, 8);
    struct device_err err;

    (void)state;
    assert_int_equal(device_guard(NULL, other, DEVICE_WRITE, &err), 0);
    assert_int_equal(device_guard(NULL, other, DEVICE_HIDDEN, &err), 0);
    assert_int_equal(device_guard(NULL, out, DEVICE_WRITE, &err), 0);
    assert_int_equal(device_guard(NULL, want, DEVICE_HIDDEN, &err), 0);
    assert_false(cpu_buffer_is_compared(part));
    assert_true(cpu_buffer_is_compared(out));
    device_free(NULL, other);
    device_free(NULL, part);
    device_free(NULL, out);
    device_free(NULL, want);
}

static bool builds_with(const char *checks)
{
    char params[100];

    snprintf(params, sizeof(params), "#define CHECKS %s\n", checks);
    return fixture_builds("unchecked", FOLDER "unchecked.cu", "unchecked",
                          params);
}

/* Its faults would not be found. */
static void a_kernel_without_the_checks_is_refused(void **state)
{
    (void)state;
    assert_true(builds_with("__attribute__((used))"));
    assert_false(builds_with("__attribute__((no_sanitize(\"bounds\")))"));
    assert_false(builds_with("__attribute__((__no_sanitize_undefined__))"));
    assert_false(builds_with("[[gnu::uninitialized]]"));
    assert_false(builds_with("__attribute__((__uninitialized__))"));
}

static void all_build_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("plain", FOLDER "all.cu", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histogram_counts_with_atomics),
        cmocka_unit_test(layernorm_reduces_by_shuffles),
        cmocka_unit_test(gemm_uses_halves_in_static_shared_memory),
        cmocka_unit_test(scale_works_in_place),
        cmocka_unit_test(spmv_sums_doubles_of_a_warp),
        cmocka_unit_test(each_piece_of_the_dialect_is_right),
        cmocka_unit_test(each_piece_of_cooperative_groups_is_right),
        cmocka_unit_test(each_piece_of_asynchronous_copies_is_right),
        cmocka_unit_test(each_reduction_and_scan_of_cub_is_right),
        cmocka_unit_test(each_kind_of_matrix_is_multiplied),
        cmocka_unit_test(a_tunable_may_have_any_name),
        cmocka_unit_test(bugs_of_plain_kernels_are_found),
        cmocka_unit_test(dependence_on_the_order_is_found),
        cmocka_unit_test(a_workspace_is_no_output),
        cmocka_unit_test(a_kernel_without_the_checks_is_refused),
        cmocka_unit_test(all_build_for_a_gpu_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
