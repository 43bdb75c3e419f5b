/* mma and ldmatrix against a plain product: the fragments of every way to load
 * them, and the count of bank conflicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"
#include "worker/runner/device/device_cpu.h"

#define SOURCE "tests/fixtures/kernels/matmul.cu"

enum {
    N = 16,
    ELEMENTS = N * N
};

/* The fixture's 'form'. */
enum {
    BY_HAND,
    X2,
    X2_TRANS,
    X1,
    X4_TRANS,
    BF16
};

static struct device_kernel *kernel;
static struct device_buffer *a, *b, *b_transposed, *c;

static void launch(int form, int padding)
{
    void *addresses[4] = { device_address(a), device_address(b),
                           device_address(b_transposed), device_address(c) };
    void *args[6] = { &addresses[0], &addresses[1], &addresses[2],
                      &addresses[3], &form,         &padding };
    const struct device_launch l = { .kernel = kernel,
                                     .grid = { 1, 1, 1 },
                                     .block = { 32, 1, 1 },
                                     .smem =
                                         (size_t)(3 * N * (2 * N + padding)),
                                     .args = args,
                                     .n_args = 6 };
    struct device_err err;

    if (device_run(NULL, &l, 10, &err) < 0)
        fail_msg("%s", err.text);
}

/* Small integers: every product and sum is exact.  The kernel starts at 1. */
static void fill(enum element_type type)
{
    for (int i = 0; i < ELEMENTS; i++) {
        const double value = i * 5 % 17 - 8;

        element_store(device_address(a), type, i, i * 7 % 13 - 6);
        element_store(device_address(b), type, i, value);
        element_store(device_address(b_transposed), type, i % N * N + i / N,
                      value);
    }
}

static void assert_product(enum element_type type)
{
    const float *got = device_address(c);

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double want = 1;

            for (int k = 0; k < N; k++)
                want += element_load(device_address(a), type, i * N + k) *
                        element_load(device_address(b), type, k * N + j);
            if (!((double)got[i * N + j] == want))
                fail_msg("(%d, %d): %g, not %g", i, j, (double)got[i * N + j],
                         want);
        }
}

static void fragments_packed_by_hand_multiply(void **state)
{
    (void)state;
    launch(BY_HAND, 0);
    assert_product(ELEMENT_FP16);
}

static void ldmatrix_x2_loads_b_from_its_transpose(void **state)
{
    (void)state;
    launch(X2, 0);
    assert_product(ELEMENT_FP16);
}

static void ldmatrix_x2_trans_loads_b(void **state)
{
    (void)state;
    launch(X2_TRANS, 16);
    assert_product(ELEMENT_FP16);
}

static void ldmatrix_x1_loads_one_matrix(void **state)
{
    (void)state;
    launch(X1, 0);
    assert_product(ELEMENT_FP16);
}

static void ldmatrix_x4_trans_loads_b(void **state)
{
    (void)state;
    launch(X4_TRANS, 32);
    assert_product(ELEMENT_FP16);
}

static void bf16_operands_multiply(void **state)
{
    (void)state;
    fill(ELEMENT_BF16);
    launch(BF16, 0);
    assert_product(ELEMENT_BF16);
    fill(ELEMENT_FP16);
}

static void bank_conflicts_depend_on_the_stride(void **state)
{
    (void)state;
    launch(X4_TRANS, 112 - 32); /* rows of 112 bytes: 7 groups of banks */
    assert_true(device_cpu_bank_conflicts() == 1.0);
    launch(X4_TRANS, 0); /* 32 bytes: every fourth row on the same banks */
    assert_true(device_cpu_bank_conflicts() == 2.0);
    launch(X4_TRANS, 128 - 32); /* 128 bytes: all rows on the same banks */
    assert_true(device_cpu_bank_conflicts() == 8.0);
    launch(BY_HAND, 0);
    assert_true(device_cpu_bank_conflicts() == 0.0);
}

static void fixture_builds_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("matmul", SOURCE, ""));
}

static int set_up(void **state)
{
    (void)state;
    kernel = fixture_load("matmul", SOURCE, "matmul", "");
    a = fixture_buffer("A", ELEMENT_FP16, ELEMENTS);
    b = fixture_buffer("B", ELEMENT_FP16, ELEMENTS);
    b_transposed = fixture_buffer("Bt", ELEMENT_FP16, ELEMENTS);
    c = fixture_buffer("C", ELEMENT_FP32, ELEMENTS);
    fill(ELEMENT_FP16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    device_free(NULL, a);
    device_free(NULL, b);
    device_free(NULL, b_transposed);
    device_free(NULL, c);
    device_unload(NULL, kernel);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_packed_by_hand_multiply),
        cmocka_unit_test(ldmatrix_x2_loads_b_from_its_transpose),
        cmocka_unit_test(ldmatrix_x2_trans_loads_b),
        cmocka_unit_test(ldmatrix_x1_loads_one_matrix),
        cmocka_unit_test(ldmatrix_x4_trans_loads_b),
        cmocka_unit_test(bf16_operands_multiply),
        cmocka_unit_test(bank_conflicts_depend_on_the_stride),
        cmocka_unit_test(fixture_builds_for_a_gpu_as_well),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
