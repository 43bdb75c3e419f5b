#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"
#include "coordinator/stats/location_shift.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

static const struct location_shift_value four_low[] = {
    { 1.0, 0 }, { 1.1, 0 }, { 1.25, 0 }, { 1.4, 0 }
};
static const struct location_shift_value four_high[] = {
    { 3.0, 0 }, { 3.2, 0 }, { 3.5, 0 }, { 3.9, 0 }
};

static void four_and_four_that_do_not_overlap(void **state)
{
    struct location_shift out;

    (void)state;
    location_shift(four_low, 4, four_high, 4, 0.95, &out);
    assert_near(out.p, 2.0 / 70, 1e-12); /* of the 70 ways to choose 4 of 8 */
    assert_near(out.lo, 1.0 - 3.9,
                1e-12); /* all differences: 2/70 is over 2.5 % */
    assert_near(out.hi, 1.4 - 3.0, 1e-12);
    assert_true(out.estimate > -2.3 && out.estimate < -2.0);
    assert_int_equal(out.n_a, 4);
}

/* All differences may miss with 1/70: that is over 1 % and below 2.5 %. */
static void each_end_has_a_level_of_its_own(void **state)
{
    struct location_shift out;

    (void)state;
    location_shift_ends(four_low, 4, four_high, 4,
                        (struct location_shift_miss){ 0.025, 0.01 }, &out);
    assert_near(out.lo, 1.0 - 3.9, 1e-12);
    assert_true(isinf(out.hi) && out.hi > 0);
    location_shift_ends(four_low, 4, four_high, 4,
                        (struct location_shift_miss){ 0.01, 0.025 }, &out);
    assert_true(isinf(out.lo) && out.lo < 0);
    assert_near(out.hi, 1.4 - 3.0, 1e-12);
}

static void the_sign_turns_with_the_sets(void **state)
{
    struct location_shift one, other;

    (void)state;
    location_shift(four_low, 4, four_high, 4, 0.95, &one);
    location_shift(four_high, 4, four_low, 4, 0.95, &other);
    assert_near(one.estimate, -other.estimate, 1e-12);
    assert_near(one.lo, -other.hi, 1e-12);
    assert_near(one.p, other.p, 1e-12);
}

static void three_values_bound_nothing(void **state)
{
    struct location_shift out;

    (void)state;
    location_shift(four_low, 3, four_high, 3, 0.95, &out);
    assert_true(isinf(out.lo) && out.lo < 0);
    assert_true(isinf(out.hi) && out.hi > 0);
    assert_near(out.p, 0.1, 1e-12);
}

static void empty_sets_have_no_shift(void **state)
{
    struct location_shift out;

    (void)state;
    location_shift(NULL, 0, four_high, 4, 0.95, &out);
    assert_true(isnan(out.estimate));
    assert_near(out.p, 1, 0);
    assert_int_equal(out.n_b, 0);
}

/* Two cards 8 % apart, both measured on both sides: no shift.  Values on one
 * side only are ignored. */
static void differences_stay_within_a_card(void **state)
{
    static const struct location_shift_value a[] = {
        { 0.00, 1 }, { 0.01, 1 }, { 0.02, 1 }, { 0.03, 1 },
        { 0.08, 2 }, { 0.09, 2 }, { 0.10, 2 }, { 0.11, 2 },
    };
    static const struct location_shift_value b[] = {
        { 0.005, 1 }, { 0.01, 1 }, { 0.02, 1 },  { 0.025, 1 }, { 0.085, 2 },
        { 0.09, 2 },  { 0.10, 2 }, { 0.105, 2 }, { 5, 7 },
    };
    struct location_shift out;

    (void)state;
    location_shift(a, 8, b, 9, 0.95, &out);
    assert_near(out.estimate, 0, 1e-9);
    assert_int_equal(out.n_b, 8);
    assert_true(out.lo > -0.02 && out.hi < 0.02);
    assert_true(out.p > 0.5);
}

/* Equal sets of noise: a 95 % interval misses 0 in one case of 20. */
static void the_interval_has_its_level(void **state)
{
    struct location_shift_value a[20], b[20];
    uint64_t seed = 1;
    int missed = 0;

    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        struct location_shift out;

        for (int i = 0; i < 40; i++) {
            struct location_shift_value *to = i < 20 ? &a[i] : &b[i - 20];

            seed = seed * 6364136223846793005U + 1442695040888963407U;
            *to = (struct location_shift_value){ log((double)(seed >> 33) + 1),
                                                 0 };
        }
        location_shift(a, 20, b, 20, 0.95, &out);
        missed += out.lo > 0 || out.hi < 0;
    }
    assert_in_range(missed, 70, 130); /* 100, standard deviation 10 */
}

#define PASSES 200

/* One pass of 20 blocks of 5 samples of one candidate: a median a block. */
static void measure(const struct noise *noise, double log_s,
                    struct noise_stream *stream,
                    struct location_shift_value *out)
{
    const struct noise_pass pass = { 1, 20, 5, 1, &log_s };
    struct block_sample samples[100];
    size_t n = noise_measure(noise, &pass, stream, samples);
    struct blocks *blocks = blocks_new(samples, n, 1);
    double medians[20];

    n = blocks_medians(blocks, 0, medians);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct location_shift_value){ log(medians[i]), 0 };
    blocks_free(blocks);
}

/* How often B is called SLOW, of PASSES pairs, if it is slower by 'gap'. */
static int called_slow(const struct noise *noise, double gap)
{
    const struct verdict_rules rules = { .alpha = 0.05, .floor = 0.03 };
    struct noise_stream stream = noise_stream(5);
    int slow = 0;

    for (int i = 0; i < PASSES; i++) {
        struct location_shift_value a[20], b[20];
        struct location_shift found;
        struct speedup speedup;

        measure(noise, -9, &stream, a);
        measure(noise, -9 + gap, &stream, b);
        location_shift(a, 20, b, 20, 0.95, &found);
        speedup = (struct speedup){ exp(found.estimate), exp(found.lo),
                                    exp(found.hi), found.p, 40 };
        slow += verdict_of(&speedup, found.p, &rules) == VERDICT_SLOW;
    }
    return slow;
}

static void equals_are_no_regression_whatever_the_noise(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_noises; i++) {
        int equal = called_slow(&noises[i], 0);
        int slower = called_slow(&noises[i], log(1.1));

        print_message("%s: of %d called SLOW: equals %d, 10 %% slower %d\n",
                      noises[i].name, PASSES, equal, slower);
        assert_true(equal <= PASSES / 40); /* one side of 5 % */
        assert_true(slower >= PASSES * 19 / 20);
    }
}

static void thousands_of_values_are_thinned_out(void **state)
{
    struct location_shift_value *a = mem_new(5000, sizeof(*a));
    struct location_shift out;

    (void)state;
    for (int i = 0; i < 5000; i++)
        a[i].value = i % 2;
    location_shift(a, 5000, a, 5000, 0.95, &out);
    assert_int_equal(out.n_a, LOCATION_SHIFT_VALUES_MAX);
    assert_near(out.estimate, 0, 1e-12);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_and_four_that_do_not_overlap),
        cmocka_unit_test(each_end_has_a_level_of_its_own),
        cmocka_unit_test(the_sign_turns_with_the_sets),
        cmocka_unit_test(three_values_bound_nothing),
        cmocka_unit_test(empty_sets_have_no_shift),
        cmocka_unit_test(differences_stay_within_a_card),
        cmocka_unit_test(the_interval_has_its_level),
        cmocka_unit_test(equals_are_no_regression_whatever_the_noise),
        cmocka_unit_test(thousands_of_values_are_thinned_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
