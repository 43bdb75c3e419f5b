#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "coordinator/compare/compare_interval.h"
#include "coordinator/stats/location_shift.h"
#include "coordinator/stats/signed_rank.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

static void the_choice_of_a_costs_the_high_end(void **state)
{
    struct compare_levels levels;

    (void)state;
    levels = compare_interval_levels(0.05, (struct compare_chosen){ 10, 1 });
    assert_near(levels.lo, 0.05, 1e-12);
    assert_near(levels.hi, 0.005, 1e-12);
    levels = compare_interval_levels(0.05, (struct compare_chosen){ 2, 4 });
    assert_near(levels.lo, 0.0125, 1e-12);
    assert_near(levels.hi, 0.025, 1e-12);
}

static void ends_have_the_quantiles_of_their_levels(void **state)
{
    const struct compare_levels levels = { 0.0125, 0.005 };
    struct speedup s;

    (void)state;
    compare_interval_of_normal(0, 0.01, 0.05, &levels, &s);
    assert_near(log(s.lo), -0.024977, 1e-6);
    assert_near(log(s.hi), 0.028070, 1e-6);
    assert_near(s.p, 1, 1e-12);
}

/* p of three standard deviations is 0.0027; each side multiplies it. */
static void p_is_scaled_by_the_end_that_it_is_about(void **state)
{
    const struct compare_levels levels = { 0.0125, 0.005 };
    struct speedup s;

    (void)state;
    compare_interval_of_normal(-0.03, 0.01, 0.05, &levels, &s);
    assert_near(s.p, 0.0269980, 1e-6);
    compare_interval_of_normal(0.03, 0.01, 0.05, &levels, &s);
    assert_near(s.p, 0.0107992, 1e-6);
}

/* 5 and 5 values that do not overlap: p is 2 / 252. */
static void blocks_have_the_levels_of_their_ends(void **state)
{
    static const struct location_shift_value a[] = {
        { 1.0, 0 }, { 1.1, 0 }, { 1.2, 0 }, { 1.3, 0 }, { 1.4, 0 },
    };
    static const struct location_shift_value b[] = {
        { 3.0, 0 }, { 3.1, 0 }, { 3.2, 0 }, { 3.3, 0 }, { 3.4, 0 },
    };
    const struct compare_evidence evidence = { a, b, 5, 5 };
    const struct compare_levels levels = { 0.05, 0.005 };
    struct compare_interval found;

    (void)state;
    compare_interval_of_blocks(&evidence, 0.05, &levels, &found);
    assert_true(isfinite(log(found.speedup.lo)));
    assert_true(isinf(found.speedup.hi)); /* 1/252 is over 0.0025 */
    assert_near(found.speedup.p, 10 * 2.0 / 252, 1e-12);
    assert_int_equal(found.n_a, 5);
    assert_int_equal(found.n_b, 5);
}

/* ---- the fastest of ten equals, against one */

#define BLOCKS 20
#define FINALISTS 10
#define COMPARISONS 400

static double measure(struct noise_stream *stream,
                      struct location_shift_value *out)
{
    double sum = 0;

    for (int i = 0; i < BLOCKS; i++) {
        out[i] = (struct location_shift_value){ noise_normal(stream), 0 };
        sum += out[i].value;
    }
    return sum;
}

static void measure_fastest(struct noise_stream *stream,
                            struct location_shift_value *out)
{
    struct location_shift_value one[BLOCKS];
    double least = INFINITY;

    for (int c = 0; c < FINALISTS; c++) {
        double sum = measure(stream, one);

        for (int i = 0; sum < least && i < BLOCKS; i++)
            out[i] = one[i];
        least = fmin(least, sum);
    }
}

/* How many intervals miss that A and B are equal. */
static int count_missed(size_t among_a)
{
    struct noise_stream stream = noise_stream(3);
    struct location_shift_value a[BLOCKS], b[BLOCKS];
    const struct compare_evidence evidence = { a, b, BLOCKS, BLOCKS };
    const struct compare_levels levels =
        compare_interval_levels(0.05, (struct compare_chosen){ among_a, 1 });
    int missed = 0;

    for (int i = 0; i < COMPARISONS; i++) {
        struct compare_interval found;

        measure_fastest(&stream, a);
        measure(&stream, b);
        compare_interval_of_blocks(&evidence, 0.05, &levels, &found);
        missed += found.speedup.lo > 1 || found.speedup.hi < 1;
    }
    return missed;
}

static void the_interval_of_a_chosen_one_has_its_level(void **state)
{
    (void)state;
    /* 5 % are 20; a plain interval misses some 15 % */
    assert_in_range(count_missed(FINALISTS), 0, 20);
    assert_true(count_missed(1) > 40);
}

/* 6 differences of one sign: p is 2 / 64. */
static void one_side_alone_has_the_ends_of_its_differences(void **state)
{
    static const struct difference d[] = {
        { 0.10, 0 }, { 0.11, 0 }, { 0.12, 0 },
        { 0.13, 0 }, { 0.14, 0 }, { 0.15, 0 },
    };
    const struct compare_levels levels = { 2.0 / 64, 4.0 / 64 };
    struct speedup found;

    (void)state;
    compare_interval_of_differences(d, 6, 0.05, &levels, &found);
    assert_near(log(found.value), 0.125, 1e-12);
    assert_near(log(found.lo), 0.10, 1e-12);
    assert_near(log(found.hi), 0.145, 1e-12);
    assert_near(found.p, 2.0 / 64 * 0.05 / levels.lo, 1e-12);
    assert_int_equal(found.n_blocks, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_of_a_costs_the_high_end),
        cmocka_unit_test(ends_have_the_quantiles_of_their_levels),
        cmocka_unit_test(p_is_scaled_by_the_end_that_it_is_about),
        cmocka_unit_test(blocks_have_the_levels_of_their_ends),
        cmocka_unit_test(the_interval_of_a_chosen_one_has_its_level),
        cmocka_unit_test(one_side_alone_has_the_ends_of_its_differences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
