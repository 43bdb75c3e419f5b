#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/finalists.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

static const struct finalist_rules rules = { .alpha = 0.05 };

/* With three configurations z is 1.96 (0.05 over two comparisons), and the sd
 * of a median of 8 samples at 1 % is 0.443 %: the limit is 1.23 %. */
static void differences_within_noise_stay_in(void **state)
{
    static const struct screened s[] = {
        { 1.0125, 8, 0.01 },
        { NAN, 1, 0 },
        { 1.0, 8, 0.01 },
        { 1.012, 8, 0.01 },
    };
    bool chosen[4];
    struct finalists out;

    (void)state;
    finalists_choose(s, 4, &rules, 1, 9, chosen, &out);
    assert_true(!chosen[0] && !chosen[1] && chosen[2] && chosen[3]);
    assert_int_equal(out.n_possible, 2);
    assert_true(isnan(out.next));
}

/* A slow configuration with few samples could still be the best.  A fast one
 * with few samples excludes nobody, but the second one does. */
static void a_noisy_configuration_stays_in(void **state)
{
    static const struct screened s[] = {
        { 1.00, 1, 0.10 },
        { 1.01, 30, 0.005 },
        { 1.03, 30, 0.005 },
        { 1.20, 1, 0.10 },
    };
    bool chosen[4];
    struct finalists out;

    (void)state;
    finalists_choose(s, 4, &rules, 1, 9, chosen, &out);
    assert_true(chosen[0] && chosen[1] && !chosen[2] && chosen[3]);
}

/* Five calm samples do not prove that a configuration is calm. */
static void a_few_calm_samples_count_as_the_typical_ones(void **state)
{
    static const double calm[] = { 1, 1, 1, 1, 1 };
    static const double other[] = { 1.02, 1.01, 1.02, 1.03, 1.02 };
    struct finalist_rules typical = rules;
    struct screened s[2];
    bool chosen[2];
    struct finalists out;

    (void)state;
    finalists_screen(calm, 5, 2, &s[0]);
    finalists_screen(other, 5, 2, &s[1]);
    assert_true(s[0].sd == 0 && s[0].n_samples == 5);
    assert_near(s[1].seconds, 2.04, 1e-12);
    assert_near(s[1].sd, sqrt(0.0002 / 4) / 1.02, 1e-9);
    finalists_choose(s, 2, &rules, 1, 9, chosen, &out);
    assert_true(chosen[0] && !chosen[1]);
    typical.noise = 0.02;
    finalists_choose(s, 2, &typical, 1, 9, chosen, &out);
    assert_true(chosen[0] && chosen[1]);
}

static void variance_between_measurements_widens_the_choice(void **state)
{
    static const struct screened s[] = { { 1, 30, 0.01 }, { 1.03, 30, 0.01 } };
    struct finalist_rules wider = rules;
    bool chosen[2];
    struct finalists out;

    (void)state;
    finalists_choose(s, 2, &rules, 1, 9, chosen, &out);
    assert_int_equal(out.n_chosen, 1);
    wider.between = 0.02;
    finalists_choose(s, 2, &wider, 1, 9, chosen, &out);
    assert_int_equal(out.n_chosen, 2);
}

static void a_cap_says_what_it_cut(void **state)
{
    static const struct screened s[] = {
        { 1.02, 5, 0.05 },
        { 1, 5, 0.05 },
        { 1.01, 5, 0.05 },
        { 1.01, 5, 0.05 },
    };
    bool chosen[4];
    struct finalists out;

    (void)state;
    finalists_choose(s, 4, &rules, 1, 2, chosen, &out);
    assert_true(out.n_possible == 4 && out.n_chosen == 2);
    assert_true(chosen[1] && chosen[2] && !chosen[3]);
    assert_near(out.next, 1.01, 1e-12);
}

/* The calm ones of each shape, a tenth apart, in a different order at each. */
static const struct screened two_shapes[] = {
    /* the headline */
    { 1.000, 9, 0.05 },
    { 1.001, 9, 0.05 },
    { 1.002, 9, 0.05 },
    { 1.003, 9, 0.05 },
    { 1.800, 9, 0.05 },
    { 1.800, 9, 0.05 },
    /* the other one */
    { 2.800, 9, 0.05 },
    { 2.800, 9, 0.05 },
    { 2.004, 9, 0.05 },
    { 2.800, 9, 0.05 },
    { 2.002, 9, 0.05 },
    { 2.000, 9, 0.05 },
};
static const struct finalist_rules both[] = { { .alpha = 0.05 },
                                              { .alpha = 0.05 } };

static void the_best_of_every_shape_goes_on(void **state)
{
    bool chosen[6];
    struct finalists out;

    (void)state;
    finalists_choose(two_shapes, 6, both, 2, 9, chosen, &out);
    for (int i = 0; i < 6; i++)
        assert_true(chosen[i]);
    assert_true(out.n_possible == 6 && out.n_chosen == 6 && isnan(out.next));
    finalists_choose(two_shapes, 6, both, 1, 9, chosen, &out);
    assert_true(out.n_possible == 4 && chosen[3] && !chosen[4] && !chosen[5]);
}

/* Equally many of each shape, the headline first. */
static void a_cap_is_shared_by_the_shapes(void **state)
{
    static const bool in[][6] = {
        { 0, 0, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0, 1 },
        { 1, 1, 0, 0, 0, 1 }, { 1, 1, 0, 0, 1, 1 }, { 1, 1, 1, 0, 1, 1 },
    };
    static const double next[] = { 1.0, 1.0, 1.001, 1.001, 1.002, 1.003 };
    bool chosen[6];
    struct finalists out;

    (void)state;
    for (size_t cap = 0; cap < 6; cap++) {
        finalists_choose(two_shapes, 6, both, 2, cap, chosen, &out);
        for (int i = 0; i < 6; i++)
            assert_int_equal(chosen[i], in[cap][i]);
        assert_int_equal(out.n_chosen, cap);
        assert_int_equal(out.n_possible, 6);
        assert_near(out.next, next[cap], 1e-12);
    }
}

static void zero_and_one_configurations_are_chosen(void **state)
{
    static const struct screened s[] = { { NAN, 0, 0 }, { 2, 1, 0 } };
    bool chosen[2];
    struct finalists out;

    (void)state;
    finalists_choose(s, 0, &rules, 1, 9, chosen, &out);
    assert_true(out.n_chosen == 0 && isnan(out.next));
    finalists_choose(s, 2, &rules, 1, 9, chosen, &out);
    assert_true(out.n_chosen == 1 && !chosen[0] && chosen[1]);
}

/* Landscapes of 500 configurations with the best 50 within 2 %; 5 samples each,
 * with some outliers.  The truly fastest must be among the chosen, and the
 * chosen must be few. */
static void the_fastest_goes_on(void **state)
{
    static const struct noise noise = { .sd = 0.01,
                                        .tail = 0.1,
                                        .tail_sd = 0.2 };
    static const struct finalist_rules typical = { .alpha = 0.05,
                                                   .noise = 0.01 };
    enum {
        N = 500
    };
    struct noise_stream stream = noise_stream(5);
    struct screened *s = mem_new(N, sizeof(*s));
    bool *chosen = mem_new(N, sizeof(*chosen));
    size_t missed = 0, sum = 0;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct finalists out;

        for (size_t i = 0; i < N; i++) {
            double truth = i < 50 ? 0.0004 * (double)i : 0.001 * (double)i;
            double samples[5];

            for (size_t k = 0; k < 5; k++)
                samples[k] = exp(truth + noise_own(&noise, &stream));
            finalists_screen(samples, 5, 1, &s[i]);
        }
        finalists_choose(s, N, &typical, 1, N, chosen, &out);
        missed += !chosen[0];
        sum += out.n_chosen;
    }
    print_message("missed %zu of 400, %zu finalists on average\n", missed,
                  sum / 400);
    assert_true(missed <= 20);
    assert_true(sum < 400 * 150); /* with outliers, more are kept than noise
                                   * alone would require */
    free(chosen);
    free(s);
}

/* The third is the fastest over all shapes, but at none of them. */
static void over_all_shapes_another_one_may_be_the_best(void **state)
{
    const struct finalist_rules each_rules[3] = { { 0.05, 0, 0.005 },
                                                  { 0.05, 0.01, 0.005 },
                                                  { 0.05, 0.01, 0.005 } };
    struct screened rows[3][3] = {
        { { 0 } },
        { { 1, 5, 0.01 }, { 2, 5, 0.01 }, { 1.2, 5, 0.01 } },
        { { 2, 5, 0.01 }, { 1, 5, 0.01 }, { 1.2, 5, 0.01 } }
    };
    struct finalists found;
    bool chosen[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        finalists_over_all(&rows[1][i], 3, &each_rules[1], 2, &rows[0][i]);
    assert_near(rows[0][0].seconds, sqrt(2), 1e-12);
    assert_near(rows[0][2].seconds, 1.2, 1e-12);
    /* two times pi / 2 * 0.01^2 / 5, over 2^2 */
    assert_near(finalists_variance(&rows[0][2], &each_rules[0]),
                M_PI_2 * 1e-4 / 10 + 2.5e-5, 1e-12);
    finalists_choose(rows[1], 3, &each_rules[1], 2, 10, chosen, &found);
    assert_true(chosen[0] && chosen[1] && !chosen[2]);
    finalists_choose(rows[0], 3, each_rules, 3, 10, chosen, &found);
    assert_true(chosen[0] && chosen[1] && chosen[2]);
    assert_int_equal(found.n_possible, 3);
    finalists_choose(rows[0], 3, each_rules, 3, 1, chosen, &found);
    assert_true(chosen[2]);
}

static void without_a_time_at_a_shape_there_is_none_over_all(void **state)
{
    const struct finalist_rules each_rules[2] = { { 0.05, 0.01, 0.005 },
                                                  { 0.05, 0.01, 0.005 } };
    const struct screened each[2] = { { 1, 5, 0.01 }, { (double)NAN, 1, 0 } };
    struct screened over;

    (void)state;
    finalists_over_all(each, 1, each_rules, 2, &over);
    assert_true(isnan(over.seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_all_shapes_another_one_may_be_the_best),
        cmocka_unit_test(without_a_time_at_a_shape_there_is_none_over_all),
        cmocka_unit_test(differences_within_noise_stay_in),
        cmocka_unit_test(a_noisy_configuration_stays_in),
        cmocka_unit_test(a_few_calm_samples_count_as_the_typical_ones),
        cmocka_unit_test(variance_between_measurements_widens_the_choice),
        cmocka_unit_test(a_cap_says_what_it_cut),
        cmocka_unit_test(the_best_of_every_shape_goes_on),
        cmocka_unit_test(a_cap_is_shared_by_the_shapes),
        cmocka_unit_test(zero_and_one_configurations_are_chosen),
        cmocka_unit_test(the_fastest_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
