/* Whole confirmation passes, simulated: 1,000 pairs of each kind. */
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
#include "tests/coordinator/near.h"
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

/* The order of the samples and a second call change nothing. */
static void the_same_measurements_give_the_same_findings(void **state)
{
    static const double logs[] = { 0, -0.0953, -0.0951 };
    const struct noise_pass pass = { 3, 20, 5, 1, logs };
    struct noise_stream stream = noise_stream(9);
    struct block_sample samples[300], turned[300];
    size_t n = noise_measure(&calm, &pass, &stream, samples);
    struct blocks *one = blocks_new(samples, n, 3), *other;
    struct finding found[3], again[3];

    (void)state;
    for (size_t i = 0; i < n; i++)
        turned[i] = samples[n - 1 - i];
    other = blocks_new(turned, n, 3);
    analysis_findings(one, 0, &rules, found);
    analysis_findings(other, 0, &rules, again);
    for (int c = 0; c < 3; c++) {
        assert_true(found[c].speedup.lo == again[c].speedup.lo);
        assert_true(found[c].speedup.hi == again[c].speedup.hi);
        assert_true(found[c].p_holm == again[c].p_holm);
        assert_int_equal(found[c].success, again[c].success);
    }
    blocks_free(one);
    blocks_free(other);
}

/* The second is 30 % faster than the baseline (the first), the third ties with
 * it, the fourth is 5 % slower, and the fifth was never measured. */
static void a_pass_has_a_finding_for_every_candidate(void **state)
{
    static const double logs[] = { 0, -0.30, -0.299, 0.05 };
    const struct noise_pass pass = { 4, 10, 5, 2, logs };
    struct noise_stream stream = noise_stream(5);
    struct block_sample samples[400];
    size_t n = noise_measure(&cards, &pass, &stream, samples), leader;
    struct blocks *blocks = blocks_new(samples, n, 5);
    struct finding f[5];

    (void)state;
    leader = analysis_findings(blocks, 0, &rules, f);
    assert_true(leader == 1 || leader == 2);
    assert_int_equal(f[0].verdict, VERDICT_SAME);
    assert_true(f[1].verdict == VERDICT_FAST && f[1].success && f[1].tied);
    assert_near(f[1].speedup.value, exp(0.30), 0.01);
    assert_true(f[1].rank.delta < -0.9 && f[1].rank.p < 1e-4);
    assert_true(f[2].tied && f[2].time.hi < f[0].time.lo);
    assert_true(f[3].verdict == VERDICT_SLOW && !f[3].tied && !f[3].success);
    assert_true(f[4].verdict == VERDICT_AMBG && !f[4].tied);
    assert_true(isnan(f[4].rank.p) && isnan(f[4].time.seconds));
    assert_true(!f[0].tied && !f[0].success);
    blocks_free(blocks);
}

/* With the level that a single test has, a look says the same.  With a tenth of
 * it, it says less; and before the first look, nothing. */
static void a_look_is_judged_by_its_level(void **state)
{
    static const double logs[] = { 0, -0.02, 0.01 };
    static const bool tied[] = { false, true, false };
    const struct noise_pass pass = { 3, 20, 5, 1, logs };
    struct noise_stream stream = noise_stream(10);
    struct block_sample samples[300];
    size_t n = noise_measure(&calm, &pass, &stream, samples);
    struct blocks *blocks = blocks_new(samples, n, 3);
    double levels[3] = { 0.025, 0.025, 0.025 };
    const struct analysis_look look = { levels, tied };
    struct finding once[3], at[3];

    (void)state;
    analysis_findings(blocks, 0, &rules, once);
    assert_int_equal(analysis_findings_at(blocks, 0, &rules, &look, at), 1);
    assert_near(at[1].speedup.lo, once[1].speedup.lo, 1e-12);
    assert_near(at[2].p_holm, once[2].p_holm, 1e-12);
    assert_near(at[1].time.lo, once[1].time.lo, 1e-12);
    assert_true(at[1].tied && !at[2].tied && at[1].verdict == VERDICT_FAST);
    levels[1] = 0.0025;
    analysis_findings_at(blocks, 0, &rules, &look, at);
    assert_true(at[1].speedup.lo < once[1].speedup.lo);
    assert_near(at[1].p_holm, 10 * once[1].p_holm, 1e-12);
    levels[1] = 0;
    analysis_findings_at(blocks, 0, &rules, &look, at);
    assert_true(isinf(at[1].speedup.hi) && at[1].verdict == VERDICT_AMBG);
    blocks_free(blocks);
}

/* 20 % faster on one card, and as fast as the baseline on the other one, which
 * has a third of the blocks: no card decides alone. */
static void cards_that_disagree_give_no_verdict(void **state)
{
    struct block_sample samples[64];
    struct blocks *blocks;
    struct finding f[2];
    struct speedup there;

    (void)state;
    for (int i = 0; i < 64; i++) {
        int gpu = i >= 48;

        samples[i] = (struct block_sample){ i % 2, i / 2, gpu,
                                            (i % 2 && !gpu ? 0.8 : 1) *
                                                (1 + 1e-3 * (i * 7 % 11)) };
    }
    blocks = blocks_new(samples, 64, 2);
    analysis_findings(blocks, 0, &rules, f);
    assert_int_equal(f[1].verdict, VERDICT_AMBG);
    assert_true(f[1].speedup.lo < 1.01 && f[1].speedup.hi > 1.24);
    speedup_on(blocks, 1, 0, 0, 0.95, &there);
    assert_true(there.n_blocks == 24 && there.lo > 1.24);
    blocks_free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_win_at_most_at_the_stated_rate),
        cmocka_unit_test(a_gain_of_2_percent_is_found_at_1_percent_noise),
        cmocka_unit_test(many_equals_do_not_make_a_winner),
        cmocka_unit_test(no_number_of_finalists_makes_a_success),
        cmocka_unit_test(no_number_of_finalists_at_the_floor_makes_one_fast),
        cmocka_unit_test(the_same_measurements_give_the_same_findings),
        cmocka_unit_test(cards_that_disagree_give_no_verdict),
        cmocka_unit_test(a_look_is_judged_by_its_level),
        cmocka_unit_test(a_pass_has_a_finding_for_every_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
