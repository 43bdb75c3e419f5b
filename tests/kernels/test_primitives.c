/* Shuffles, votes, conversions, loads and stores: one column of the fixture's
 * output each, in the order of its source. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define SOURCE "tests/fixtures/kernels/primitives.cu"

enum {
    LANES = 32,
    COLUMNS = 28
};

static struct device_kernel *kernel;
static struct device_buffer *halves, *floats, *out, *count;

/* The fixture's inputs: halves[i] = i / 2, floats[i] = i / 4 - 3. */
static float column(int lane, int i)
{
    return ((const float *)device_address(out))[lane * COLUMNS + i];
}

static void conversions_are_exact_or_rounded(void **state)
{
    (void)state;
    assert_true(column(5, 0) == 2.5f);
    assert_true(column(16, 1) == 0x3c00); /* 1.0 */
    assert_true(column(8, 1) == 0xbc00);  /* -1.0 */
    assert_true(column(31, 2) == 4.75f);
    assert_true(column(31, 3) == 9.5f);
    assert_true(column(10, 4) == 1.0f);  /* (2 * -0.5)^2 */
    assert_true(column(12, 24) == 1.0f); /* a tie of bf16, to even */
}

static void ex2_is_a_power_of_two(void **state)
{
    (void)state;
    assert_true(column(20, 5) == 4.0f);
    assert_true(column(0, 6) == 0.125f);
}

static void shuffles_take_the_value_of_the_other_lane(void **state)
{
    (void)state;
    assert_true(column(6, 7) == -2.25f); /* of lane 3 */
    assert_true(column(6, 8) == 22);
    assert_true(column(6, 9) == -0.75f); /* of lane 9 */
    assert_true(column(30, 9) == 4.5f);  /* its own */
    assert_true(column(0, 10) == 31);
    assert_true(column(1, 10) == 1);
    assert_true(column(19, 11) == -1.25f); /* of lane 7 */
    assert_true(column(31, 12) == 0);
}

static void votes_are_the_same_in_every_lane(void **state)
{
    (void)state;
    assert_true(column(0, 13) == 0x249249);
    assert_true(column(31, 13) == 0x249249);
    assert_true(column(3, 14) == 1);
    assert_true(column(9, 15) == 2);
}

static void shared_memory_keeps_each_width(void **state)
{
    (void)state;
    assert_true(column(11, 16) == 11 + 3);
    assert_true(column(11, 17) == 5 + 17 + 18);
    assert_true(column(11, 18) == -0.25f);
}

static void global_memory_keeps_each_width(void **state)
{
    (void)state;
    assert_true(column(11, 19) == -0.25f);
    assert_true(column(11, 20) == -3.0f);
    assert_true(column(11, 21) == -2.75f);
    assert_true(column(7, 23) == 1 + 7);
}

static void short_copies_are_filled_up_with_zeros(void **state)
{
    (void)state;
    assert_true(column(11, 22) == -3.0f + 0 - 0.25f);
}

static void spellings_of_nvcc_work_as_well(void **state)
{
    (void)state;
    assert_true(column(6, 25) == -2.25f - 1.25f);
    assert_true(column(6, 26) == -3.0f - 2.5f);
    assert_true(column(6, 27) == 3);
}

static void atomic_additions_are_all_counted(void **state)
{
    (void)state;
    assert_int_equal(*(const int *)device_address(count), LANES);
}

static void fixture_builds_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("primitives", SOURCE, ""));
}

static int set_up(void **state)
{
    struct device_err err = { .text = "" };
    void *addresses[4];
    void *args[4];
    struct device_launch l = { .grid = { 1, 1, 1 },
                               .block = { LANES, 1, 1 },
                               .smem = LANES * 32,
                               .args = args,
                               .n_args = 4 };

    (void)state;
    kernel = fixture_load("primitives", SOURCE, "primitives", "");
    halves = fixture_buffer("halves", ELEMENT_FP16, LANES);
    floats = fixture_buffer("floats", ELEMENT_FP32, LANES);
    out = fixture_buffer("out", ELEMENT_FP32, (int64_t)LANES * COLUMNS);
    count = fixture_buffer("count", ELEMENT_INT32, 1);
    for (int i = 0; i < LANES; i++) {
        element_store(device_address(halves), ELEMENT_FP16, i, i * 0.5);
        element_store(device_address(floats), ELEMENT_FP32, i, i * 0.25 - 3);
    }
    *(int *)device_address(count) = 0;
    addresses[0] = device_address(halves);
    addresses[1] = device_address(floats);
    addresses[2] = device_address(out);
    addresses[3] = device_address(count);
    for (int i = 0; i < 4; i++)
        args[i] = &addresses[i];
    l.kernel = kernel;
    if (device_run(NULL, &l, 10, &err) < 0)
        print_error("%s\n", err.text);
    return err.text[0] ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    device_free(NULL, halves);
    device_free(NULL, floats);
    device_free(NULL, out);
    device_free(NULL, count);
    device_unload(NULL, kernel);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_are_exact_or_rounded),
        cmocka_unit_test(ex2_is_a_power_of_two),
        cmocka_unit_test(shuffles_take_the_value_of_the_other_lane),
        cmocka_unit_test(votes_are_the_same_in_every_lane),
        cmocka_unit_test(shared_memory_keeps_each_width),
        cmocka_unit_test(global_memory_keeps_each_width),
        cmocka_unit_test(short_copies_are_filled_up_with_zeros),
        cmocka_unit_test(spellings_of_nvcc_work_as_well),
        cmocka_unit_test(atomic_additions_are_all_counted),
        cmocka_unit_test(fixture_builds_for_a_gpu_as_well),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
