#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/conclusion/conclusion_samples.h"
#include "coordinator/search/objective.h"
#include "tests/coordinator/near.h"

/* Two blocks of two candidates at two shapes; in the second block, candidate 1
 * has no sample at shape 1. */
static const struct conclusion_sample samples[] = {
    { 0, { 0, 1, 7, 1.0 } }, { 0, { 0, 1, 7, 1.0 } }, { 0, { 0, 1, 7, 9.0 } },
    { 1, { 1, 1, 7, 8.0 } }, { 1, { 0, 1, 7, 4.0 } }, { 0, { 1, 1, 7, 2.0 } },
    { 0, { 0, 2, 5, 3.0 } }, { 0, { 1, 2, 5, 3.0 } }, { 1, { 0, 2, 5, 12.0 } },
};
#define N (sizeof(samples) / sizeof(samples[0]))

static void a_shape_has_its_samples(void **state)
{
    const struct conclusion_scope scope = { 1, 2, 2 };
    struct block_sample out[N];

    (void)state;
    assert_int_equal(conclusion_samples_at(samples, N, &scope, out), 3);
    assert_int_equal(out[0].candidate, 1);
    assert_near(out[0].seconds, 8, 0);
    assert_int_equal(out[2].block, 2);
    assert_near(out[2].seconds, 12, 0);
}

static void over_all_shapes_there_is_one_mean_a_block(void **state)
{
    const struct conclusion_scope scope = { OBJECTIVE_ALL, 2, 2 };
    struct block_sample out[N];

    (void)state;
    assert_int_equal(conclusion_samples_at(samples, N, &scope, out), 3);
    assert_int_equal(out[0].candidate, 0);
    assert_int_equal(out[0].block, 1);
    assert_int_equal(out[0].gpu, 7);
    assert_near(out[0].seconds, 2, 1e-12); /* of the medians 1 and 4 */
    assert_int_equal(out[1].candidate, 1);
    assert_near(out[1].seconds, 4, 1e-12);
    assert_int_equal(out[2].candidate, 0);
    assert_int_equal(out[2].gpu, 5);
    assert_near(out[2].seconds, 6, 1e-12);
}

static void without_samples_there_is_none(void **state)
{
    const struct conclusion_scope scope = { OBJECTIVE_ALL, 2, 2 };
    struct block_sample out[1];

    (void)state;
    assert_int_equal(conclusion_samples_at(NULL, 0, &scope, out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shape_has_its_samples),
        cmocka_unit_test(over_all_shapes_there_is_one_mean_a_block),
        cmocka_unit_test(without_samples_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
