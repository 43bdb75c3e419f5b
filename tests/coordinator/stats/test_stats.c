#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Too many to sort; of every other set, many are equal. */
static void many_samples_have_the_median_of_the_sorted_ones(void **state)
{
    double s[400], sorted[400];
    struct summary out;

    (void)state;
    for (size_t n = 65; n < 400; n++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = s[i] =
                n % 3 ? (double)(i * 7919 % 1009) : (double)(i * 7919 % 11);
        qsort(sorted, n, sizeof(*sorted), ascending);
        stats_summary(s, n, &out);
        assert_true(
            out.median ==
            (n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2));
        assert_true(out.min == sorted[0] && out.max == sorted[n - 1]);
        assert_true(stats_median(s, n) == out.median);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_is_its_own_median),
        cmocka_unit_test(an_outlier_moves_neither_median_nor_spread),
        cmocka_unit_test(an_even_number_takes_the_mean_of_the_middle),
        cmocka_unit_test(many_samples_have_the_median_of_the_sorted_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
