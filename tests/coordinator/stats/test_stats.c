#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/stats.h"

static void one_sample_is_its_own_median(void **state)
{
    static const double s[] = { 0.5 };
    struct summary out;

    (void)state;
    stats_summary(s, 1, &out);
    assert_true(out.median == 0.5 && out.spread == 0);
    assert_true(out.min == 0.5 && out.max == 0.5);
}

static void an_outlier_moves_neither_median_nor_spread(void **state)
{
    static const double s[] = { 3, 1, 1000, 2, 4 };
    struct summary out;

    (void)state;
    stats_summary(s, 5, &out);
    assert_true(out.median == 3);
    assert_float_equal(out.spread, 1.4826, 1e-12);
    assert_true(out.min == 1 && out.max == 1000);
    assert_true(s[2] == 1000); /* the order is left alone */
}

static void an_even_number_takes_the_mean_of_the_middle(void **state)
{
    static const double s[] = { 4, 1, 3, 2 };
    struct summary out;

    (void)state;
    stats_summary(s, 4, &out);
    assert_true(out.median == 2.5);
    assert_float_equal(out.spread, 1.4826, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_is_its_own_median),
        cmocka_unit_test(an_outlier_moves_neither_median_nor_spread),
        cmocka_unit_test(an_even_number_takes_the_mean_of_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
