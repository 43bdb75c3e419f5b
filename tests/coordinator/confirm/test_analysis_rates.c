/* Whole confirmation passes, simulated: 1,000 pairs of each kind.  How often
 * the verdicts are wrong is a matter of arithmetic; what sanitizers may find in
 * it, they find in test_analysis.c as well. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"
#include "tests/coordinator/noise.h"

#define PAIRS 1000

static const struct verdict_rules rules = VERDICT_RULES;
static const struct verdict_rules without_floor = { 0.05, 0, 1.10 };

static const struct noise calm = { .sd = 0.01 };
static const struct noise drifting = {
    .sd = 0.01, .drift = 0.09, .swing = 0.03, .within = 0.005
};
static const struct noise cards = {
    .sd = 0.01, .drift = 0.03, .card = 0.08, .card_noise = 1.5
};

struct tally {
    int n[4]; /* count of each verdict */
};

/* 100 samples a candidate: 20 blocks of 5, or 10 on each of two GPUs. */
static struct tally judge(const struct noise *noise, size_t n_gpus, double gap,
                          const struct verdict_rules *by)
{
    const double logs[] = { -9 - gap, -9 };
    const struct noise_pass pass = { 2, 20 / n_gpus, 5, n_gpus, logs };
    struct noise_stream stream = noise_stream(n_gpus);
    struct block_sample samples[200];
    struct tally tally = { { 0 } };

    for (int i = 0; i < PAIRS; i++) {
        size_t n = noise_measure(noise, &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, 2);
        struct finding found[2];

        analysis_findings(blocks, 1, by, found);
        tally.n[found[0].verdict]++;
        blocks_free(blocks);
    }
    print_message("gap %.1f %%: SAME %d FAST %d SLOW %d AMBG %d\n", 100 * gap,
                  tally.n[VERDICT_SAME], tally.n[VERDICT_FAST],
                  tally.n[VERDICT_SLOW], tally.n[VERDICT_AMBG]);
    return tally;
}

static const struct noise *const kinds[] = { &calm, &drifting, &cards };
static const size_t gpus[] = { 1, 1, 2 };

/* Without a floor, alpha covers both sides: 50 of 1,000, and 71 in one run of a
 * thousand.  With the floor hardly any remain. */
static void equals_win_at_most_at_the_stated_rate(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct tally t = judge(kinds[k], gpus[k], 0, &without_floor);

        assert_true(t.n[VERDICT_FAST] + t.n[VERDICT_SLOW] <= 71);
        assert_true(t.n[VERDICT_FAST] <= 43); /* 25 are expected */
        t = judge(kinds[k], gpus[k], 0, &rules);
        assert_true(t.n[VERDICT_FAST] + t.n[VERDICT_SLOW] <= 1);
    }
}

static void a_gain_of_2_percent_is_found_at_1_percent_noise(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        assert_true(judge(kinds[k], gpus[k], 0.02, &rules).n[VERDICT_FAST] >=
                    950);
}

static bool tells_any_apart(const struct blocks *blocks,
                            const struct verdict_rules *by)
{
    struct finding found[11];
    bool told = false;

    analysis_findings(blocks, 0, by, found);
    for (int c = 1; c < 11; c++)
        told = told || found[c].verdict == VERDICT_FAST ||
               found[c].verdict == VERDICT_SLOW;
    return told;
}

/* Ten finalists that all equal the baseline: in at most alpha of the passes is
 * one of them called different.  With four shapes, each a family of its own, it
 * is at most four times alpha, and with the floor hardly any. */
static void many_equals_do_not_make_a_winner(void **state)
{
    static const double logs[11] = { 0 };
    const struct noise_pass pass = { 11, 10, 3, 2, logs };
    struct noise_stream stream = noise_stream(3);
    struct block_sample *samples = mem_new(660, sizeof(*samples));
    int wrong = 0, wrong_of_four = 0, floored = 0, at = -1;

    (void)state;
    for (int i = 0; i < 200; i++) {
        size_t n = noise_measure(&drifting, &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, 11);

        if (tells_any_apart(blocks, &without_floor)) {
            wrong++;
            wrong_of_four += i / 4 != at;
            at = i / 4;
        }
        floored += tells_any_apart(blocks, &rules);
        blocks_free(blocks);
    }
    print_message("wrong in %d of 200, at one of four shapes in %d of 50, "
                  "with the floor in %d of 200\n",
                  wrong, wrong_of_four, floored);
    assert_true(wrong <= 19);         /* 10 are allowed; 19 is three sigma */
    assert_true(wrong_of_four <= 18); /* likewise 10 */
    assert_true(floored <= 1);
    free(samples);
}

#define FAMILY_MOST 30
#define FAMILY_PASSES 300

struct family {
    int fast, success; /* passes in which any finalist is */
};

/* Finalists that are all faster than the baseline by 'ratio'. */
static struct family count_family(size_t n_finalists, double ratio)
{
    double logs[FAMILY_MOST + 1] = { 0 };
    const struct noise_pass pass = { n_finalists + 1, 20, 5, 1, logs };
    struct noise_stream stream = noise_stream(n_finalists);
    struct block_sample *samples =
        mem_new((n_finalists + 1) * 100, sizeof(*samples));
    struct family count = { 0 };

    for (size_t c = 1; c <= n_finalists; c++)
        logs[c] = -log(ratio);
    for (int i = 0; i < FAMILY_PASSES; i++) {
        size_t n = noise_measure(&drifting, &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, n_finalists + 1);
        struct finding found[FAMILY_MOST + 1];
        bool fast = false, success = false;

        analysis_findings(blocks, 0, &rules, found);
        for (size_t c = 1; c <= n_finalists; c++) {
            fast = fast || found[c].verdict == VERDICT_FAST;
            success = success || found[c].success;
        }
        count.fast += fast;
        count.success += success;
        blocks_free(blocks);
    }
    free(samples);
    return count;
}

/* One side of a 95 % interval is 2.5 %: 7.5 of 300, and three sigma more. */
#define FAMILY_ALLOWED 15

static void no_number_of_finalists_makes_a_success(void **state)
{
    static const size_t sizes[] = { 1, 10, FAMILY_MOST };

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct family below = count_family(sizes[k], 1.095);
        struct family at = count_family(sizes[k], 1.0999);

        print_message("%zu finalists: %d and %d of 300 succeed\n", sizes[k],
                      below.success, at.success);
        assert_true(below.success <= 3 && at.success <= FAMILY_ALLOWED);
        assert_true(below.fast >= 299);
    }
}

static void no_number_of_finalists_at_the_floor_makes_one_fast(void **state)
{
    static const size_t sizes[] = { 1, 10, FAMILY_MOST };

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct family at = count_family(sizes[k], 1.005);

        print_message("%zu finalists: %d of 300 are FAST\n", sizes[k], at.fast);
        assert_true(at.fast <= FAMILY_ALLOWED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_win_at_most_at_the_stated_rate),
        cmocka_unit_test(a_gain_of_2_percent_is_found_at_1_percent_noise),
        cmocka_unit_test(many_equals_do_not_make_a_winner),
        cmocka_unit_test(no_number_of_finalists_makes_a_success),
        cmocka_unit_test(no_number_of_finalists_at_the_floor_makes_one_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
