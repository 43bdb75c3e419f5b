#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/compare/compare_baseline.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/stats/location_shift.h"
#include "tests/coordinator/near.h"

/* It is in the blocks 1, 2, 4 and 6, the baseline in 2, 3, 4 and 6; block 6 of
 * the baseline is on another GPU. */
static void blocks_with_both_have_a_ratio(void **state)
{
    struct location_shift_value of[] = {
        { 1.0, 0 }, { 1.5, 1 }, { 2.0, 0 }, { 3.0, 0 }
    };
    struct location_shift_value base[] = {
        { 1.25, 1 }, { 9.0, 0 }, { 2.5, 0 }, { 3.5, 1 }
    };
    int64_t rounds[] = { 1, 2, 4, 6 }, base_rounds[] = { 2, 3, 4, 6 };
    const struct compare_blocks config = { .medians = of,
                                           .rounds = rounds,
                                           .n = 4 };
    const struct compare_blocks baseline = { .medians = base,
                                             .rounds = base_rounds,
                                             .n = 4 };
    struct location_shift_value out[4];

    (void)state;
    assert_int_equal(compare_baseline_ratios(&config, &baseline, out), 2);
    assert_near(out[0].value, 0.25, 1e-12);
    assert_int_equal(out[0].stratum, 1);
    assert_near(out[1].value, -0.5, 1e-12);
    assert_int_equal(out[1].stratum, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_with_both_have_a_ratio),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
