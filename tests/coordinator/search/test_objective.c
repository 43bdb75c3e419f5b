#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/search/objective.h"

static const char *const shapes[] = { "short", "long", "causal" };

static void a_word_or_the_name_of_a_shape(void **state)
{
    (void)state;
    assert_int_equal(objective_find("headline", shapes, 3), 0);
    assert_int_equal(objective_find("short", shapes, 3), 0);
    assert_int_equal(objective_find("causal", shapes, 3), 2);
    assert_int_equal(objective_find("geomean", shapes, 3), OBJECTIVE_ALL);
    assert_int_equal(objective_find("geomean", shapes, 1), 0);
    assert_int_equal(objective_find("cause", shapes, 3), OBJECTIVE_NONE);
}

static enum objective_known sum(int objective, unsigned char a, unsigned char b)
{
    const unsigned char known[] = { a, b };

    return objective_sum(objective, known, 2);
}

static void a_failure_at_any_shape_is_a_failure_at_once(void **state)
{
    (void)state;
    for (int objective = OBJECTIVE_ALL; objective < 2; objective++) {
        assert_int_equal(sum(objective, OBJECTIVE_OPEN, OBJECTIVE_FAILED),
                         OBJECTIVE_FAILED);
        assert_int_equal(sum(objective, OBJECTIVE_FAILED, OBJECTIVE_LOST),
                         OBJECTIVE_FAILED);
    }
}

static void the_state_is_open_until_all_shapes_are_settled(void **state)
{
    (void)state;
    for (int objective = OBJECTIVE_ALL; objective < 2; objective++) {
        assert_int_equal(sum(objective, OBJECTIVE_TIMED, OBJECTIVE_OPEN),
                         OBJECTIVE_OPEN);
        assert_int_equal(sum(objective, OBJECTIVE_TIMED, OBJECTIVE_TIMED),
                         OBJECTIVE_TIMED);
    }
}

static void a_loss_counts_only_at_shapes_of_the_objective(void **state)
{
    (void)state;
    assert_int_equal(sum(0, OBJECTIVE_TIMED, OBJECTIVE_LOST), OBJECTIVE_TIMED);
    assert_int_equal(sum(1, OBJECTIVE_TIMED, OBJECTIVE_LOST), OBJECTIVE_LOST);
    assert_int_equal(sum(OBJECTIVE_ALL, OBJECTIVE_TIMED, OBJECTIVE_LOST),
                     OBJECTIVE_LOST);
}

static void the_time_is_that_of_the_shape_or_the_geometric_mean(void **state)
{
    const double times[] = { 2e-6, 8e-6, 4e-6 };

    (void)state;
    assert_true(objective_time(0, times, 3) == 2e-6);
    assert_true(objective_time(2, times, 3) == 4e-6);
    assert_true(fabs(objective_time(OBJECTIVE_ALL, times, 3) - 4e-6) < 1e-18);
}

/* The first is 1.5x and 0.9x the baseline, the second 1.1x and 1.1x: the
 * arithmetic mean of the times has it the other way round. */
static void the_order_is_that_of_the_times_over_the_baseline(void **state)
{
    const double baseline[] = { 1e-6, 100e-6 };
    const double first[] = { 1e-6 / 1.5, 100e-6 / 0.9 };
    const double second[] = { 1e-6 / 1.1, 100e-6 / 1.1 };
    double one = objective_time(OBJECTIVE_ALL, first, 2);
    double other = objective_time(OBJECTIVE_ALL, second, 2);
    double base = objective_time(OBJECTIVE_ALL, baseline, 2);

    (void)state;
    assert_true(one < other);
    assert_true(first[0] + first[1] > second[0] + second[1]);
    assert_true(fabs(base / one - sqrt(1.5 * 0.9)) < 1e-12);
    assert_true(fabs(base / other - 1.1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_or_the_name_of_a_shape),
        cmocka_unit_test(a_failure_at_any_shape_is_a_failure_at_once),
        cmocka_unit_test(the_state_is_open_until_all_shapes_are_settled),
        cmocka_unit_test(a_loss_counts_only_at_shapes_of_the_objective),
        cmocka_unit_test(the_time_is_that_of_the_shape_or_the_geometric_mean),
        cmocka_unit_test(the_order_is_that_of_the_times_over_the_baseline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
