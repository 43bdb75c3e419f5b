/* What one confirmation pass finds; test_analysis_rates.c has many of them. */
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

static const struct verdict_rules rules = VERDICT_RULES;

static const struct noise calm = { .sd = 0.01 };
static const struct noise cards = {
    .sd = 0.01, .drift = 0.03, .card = 0.08, .card_noise = 1.5
};

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
        cmocka_unit_test(the_same_measurements_give_the_same_findings),
        cmocka_unit_test(cards_that_disagree_give_no_verdict),
        cmocka_unit_test(a_look_is_judged_by_its_level),
        cmocka_unit_test(a_pass_has_a_finding_for_every_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
