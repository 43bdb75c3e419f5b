/* test_fill.c - the generator's statistics, at a fixed seed
 *
 * Limits are five standard errors of the statistic at N values: a sound
 * generator passes 1 seed in 10^6 wrongly, and this one seed does pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "worker/runner/fill.h"

enum {
    N = 200000
};

static double value(enum fill_kind kind, unsigned argument, int64_t i)
{
    return fill_value(kind, 1.0, fill_key(1, argument), i);
}

static void normal_values_have_mean_0_and_sd_1(void **state)
{
    double sum = 0, squares = 0, fourth = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        double x = value(FILL_NORMAL, 0, i);

        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96.0 / N));
}

static void uniform_values_fill_the_unit_interval(void **state)
{
    int bins[100] = { 0 };
    double chi = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        double x = value(FILL_UNIFORM, 0, i);

        assert_true(x >= 0 && x < 1);
        bins[(int)(x * 100)]++;
    }
    for (int i = 0; i < 100; i++)
        chi += (bins[i] - N / 100.0) * (bins[i] - N / 100.0) / (N / 100.0);
    assert_true(fabs(chi - 99) < 5 * sqrt(2 * 99.0));
}

/* Correlation of two sequences of N normal values. */
static double correlation(unsigned a, unsigned b, int lag)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += value(FILL_NORMAL, a, i) * value(FILL_NORMAL, b, i + lag);
    return sum / N;
}

static void streams_are_independent(void **state)
{
    (void)state;
    assert_true(fabs(correlation(0, 1, 0)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(1, 2, 0)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(0, 1, 1)) < 5 * sqrt(1.0 / N));
}

static void neighbours_are_independent(void **state)
{
    (void)state;
    assert_true(fabs(correlation(0, 0, 1)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(0, 0, 64)) < 5 * sqrt(1.0 / N));
}

static void seeds_give_different_values(void **state)
{
    int same = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        same += fill_bits(fill_key(1, 0), i) == fill_bits(fill_key(2, 0), i);
    assert_int_equal(same, 0);
}

static void plain_kinds_are_what_they_say(void **state)
{
    (void)state;
    assert_true(fill_value(FILL_ZEROS, 3.0, 1, 7) == 0);
    assert_true(fill_value(FILL_ONES, 3.0, 1, 7) == 3.0);
    assert_true(fill_value(FILL_IOTA, 0.5, 1, 7) == 3.5);
    assert_true(fill_value(FILL_UNIFORM, 0.0, 1, 7) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_values_have_mean_0_and_sd_1),
        cmocka_unit_test(uniform_values_fill_the_unit_interval),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(seeds_give_different_values),
        cmocka_unit_test(plain_kinds_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
