#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "tests/coordinator/schedule/gpu_trust_fixture.h"

static void a_gpu_off_its_level_rests_and_comes_back(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_batch(trust, 0, 0, 10, 1e-3);
    trust_batch(trust, 0, 6, 10, 1e-3);
    trust_batch(trust, 0, 3, 20, 1.05e-3);
    trust_expect_text(
        trust, GPU_TRUST_SAY, 0,
        "its canary moved by +5.0 %; 3 measurements in between are "
        "repeated");
    trust_expect_text(trust, GPU_TRUST_REST, 0,
                      "its canary is +5.0 % off its level; it rests for 5 s");
    trust_expect_nothing(trust, 33, false); /* 29 and 5 s */
    assert_true(gpu_trust_waits(trust));
    assert_true(gpu_trust_rested_s(trust) == 34);
    trust_expect(trust, 34, GPU_TRUST_CANARY, 0);
    assert_true(isinf(gpu_trust_rested_s(trust))); /* it was asked for */
    gpu_trust_canary(trust, 0, 34, 1.001e-3);
    trust_expect_text(trust, GPU_TRUST_GO_ON, 0,
                      "its canary is back on its level");
    for (int i = 0; i < 3; i++) /* now that it is itself */
        trust_expect(trust, 34, GPU_TRUST_AGAIN, 0);
    trust_expect_nothing(trust, 34, false);
    gpu_trust_free(trust);
}

/* Its canary after the rest serves repetitions alone. */
static void a_rest_at_the_end_needs_no_canary_without_doubts(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 10);
    trust_expect(trust, 10, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 10, 1.1e-3);
    trust_expect(trust, 10, GPU_TRUST_REST, 0);
    trust_expect_nothing(trust, 15, true);
    assert_false(gpu_trust_waits(trust));
    trust_expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_free(trust);
}

/* The canary that is due after three measurements. */
static void canary_at(struct gpu_trust *trust, double at_s, double seconds)
{
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, at_s);
    trust_expect(trust, at_s, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, at_s, seconds);
}

static struct gpu_trust *with_drift(double drift)
{
    struct gpu_trust_rules rules = { .every = 3,
                                     .line = CANARY_CALIBRATION_RULES,
                                     .rest_s = 5,
                                     .again_max = 8 };

    rules.line.drift = drift;
    return gpu_trust_new(&rules, TRUST_JOBS);
}

/* 1/32 is exact. */
static void a_canary_may_be_off_by_as_much_as_the_drift(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    trust_start(trust, 0, 1);
    canary_at(trust, 10, 1.03125);
    trust_expect_nothing(trust, 10, false);
    gpu_trust_free(trust);
}

/* So may the canary after a rest be of the one before. */
static void a_new_level_is_steady_within_the_drift(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    trust_start(trust, 0, 1);
    canary_at(trust, 10, 2);
    trust_expect(trust, 10, GPU_TRUST_REST, 0);
    trust_expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 15, 2.0625);
    trust_expect_text(trust, GPU_TRUST_GO_ON, 0,
                      "its canary is steady on a new level");
    gpu_trust_free(trust);
}

/* Each is near the one before, and the third is off the level. */
static void a_slow_drift_is_a_rest_too(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    trust_start(trust, 0, 1);
    canary_at(trust, 10, 1);
    canary_at(trust, 20, 1.03);
    canary_at(trust, 30, 1.05);
    trust_expect_text(trust, GPU_TRUST_REST, 0,
                      "its canary is +5.0 % off its level; it rests for 5 s");
    gpu_trust_free(trust);
}

/* Canaries that go up and down by 3 %, and one that is 5 % off. */
static struct gpu_trust *noisy_canaries(int n)
{
    struct gpu_trust *trust = with_drift(0.03125);

    trust_start(trust, 0, 1);
    for (int i = 1; i < n; i++)
        canary_at(trust, 10 * i, i == n - 1 ? 1.05 : i % 2 ? 1.03 : 1);
    return trust;
}

static void noise_is_known_from_six_canaries_on(void **state)
{
    struct gpu_trust *trust = noisy_canaries(6);

    (void)state;
    trust_expect_nothing(trust, 100, false);
    gpu_trust_free(trust);
    trust = noisy_canaries(5);
    trust_expect(trust, 100, GPU_TRUST_REST, 0);
    gpu_trust_free(trust);
}

/* The level is the median of the newest five: 1, 1, 2, 2, 2. */
static void the_level_is_of_the_newest_five(void **state)
{
    static const double seconds[] = { 1, 1, 1, 2, 2, 2 };
    struct gpu_trust *trust = with_drift(1.5);

    (void)state;
    trust_start(trust, 0, 1);
    for (int i = 0; i < 6; i++)
        canary_at(trust, 10 + i, seconds[i]);
    trust_expect_nothing(trust, 20, false);
    canary_at(trust, 20, 6); /* 3 times 2, and 6 times 1 */
    trust_expect_text(trust, GPU_TRUST_REST, 0,
                      "its canary is +200.0 % off its level; it rests for 5 s");
    gpu_trust_free(trust);
}

/* The GPU that may go on first. */
static void the_first_rest_that_ends_is_told(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        trust_start(trust, gpu, 1);
        for (int i = 0; i < 3; i++)
            gpu_trust_measured(trust, gpu, -1, 10);
        trust_expect(trust, 10, GPU_TRUST_CANARY, gpu);
        gpu_trust_canary(trust, gpu, 10 + 10 * gpu, 2);
        trust_expect(trust, 10, GPU_TRUST_REST, gpu);
    }
    assert_true(gpu_trust_rested_s(trust) == 15);
    trust_expect(trust, 16, GPU_TRUST_CANARY, 0);
    assert_true(gpu_trust_rested_s(trust) == 25);
    gpu_trust_free(trust);
}

static void a_step_to_a_new_level_is_one_rest(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_batch(trust, 0, 0, 10, 1.05e-3);
    trust_expect(trust, 20, GPU_TRUST_SAY, 0);
    trust_expect(trust, 20, GPU_TRUST_REST, 0);
    trust_expect(trust, 40, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 41, 1.051e-3);
    trust_expect_text(trust, GPU_TRUST_GO_ON, 0,
                      "its canary is steady on a new level");
    for (int job = 0; job < 3; job++) {
        trust_expect(trust, 42, GPU_TRUST_AGAIN, 0);
        gpu_trust_measured(trust, 0, job, 43);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    trust_expect(trust, 44, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 45, 1.05e-3);
    trust_batch(trust, 0, 3, 50, 1.05e-3); /* nothing can be said about these */
    trust_expect_nothing(trust, 60, true);
    gpu_trust_free(trust);
}

/* Another 10 % off after each rest. */
static void keeps_moving(struct gpu_trust *trust, int gpu)
{
    double seconds = 1.1e-3, now_s = 100;

    trust_expect(trust, now_s, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, now_s, seconds);
    for (int i = 0; i < 3; i++) {
        struct gpu_trust_step step = trust_next(trust, now_s);

        if (step.act == GPU_TRUST_SAY)
            step = trust_next(trust, now_s);
        assert_int_equal(step.act, GPU_TRUST_REST);
        now_s += 60;
        trust_expect(trust, now_s, GPU_TRUST_CANARY, gpu);
        seconds *= 1.1;
        gpu_trust_canary(trust, gpu, now_s, seconds);
    }
}

static void
a_gpu_that_never_settles_is_quarantined_if_others_are_steady(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_start(trust, 1, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 1, i, 1);
    keeps_moving(trust, 1);
    trust_expect_text(trust, GPU_TRUST_QUARANTINE, 1,
                      "its canary is +46.4 % off its level after 3 rests");
    assert_true(gpu_trust_is_quarantined(trust, 1));
    assert_false(gpu_trust_is_quarantined(trust, 0));
    for (int job = 0; job < 3; job++) { /* elsewhere */
        step = trust_next(trust, 300);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    gpu_trust_measured(trust, 1, 7, 301); /* was under way: late */
    trust_expect_nothing(trust, 400, false);
    gpu_trust_free(trust);
}

static void the_only_gpu_is_used_as_it_is(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 1);
    keeps_moving(trust, 0);
    trust_expect_text(trust, GPU_TRUST_GO_ON, 0,
                      "its canary does not settle; it is used as it is");
    assert_false(gpu_trust_is_quarantined(trust, 0));
    trust_expect_nothing(trust, 400, false);
    gpu_trust_free(trust);
}

/* Two power-capped cards: fast after each rest, slow under load. */
static void cards_that_all_drift_are_all_kept(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    int rests = 0;

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_start(trust, 1, 1e-3);
    for (int round = 0; round < 40; round++)
        for (int gpu = 0; gpu < 2; gpu++) {
            double at_s = 100 * (round + 1) + gpu;
            struct gpu_trust_step step;

            for (int i = 0; i < 3; i++)
                gpu_trust_measured(trust, gpu, -1, at_s);
            trust_expect(trust, at_s, GPU_TRUST_CANARY, gpu);
            gpu_trust_canary(trust, gpu, at_s, 1.1e-3);
            while (gpu_trust_next(trust, at_s + 40, false, &step)) {
                assert_int_not_equal(step.act, GPU_TRUST_QUARANTINE);
                rests += step.act == GPU_TRUST_REST;
                if (step.act == GPU_TRUST_CANARY)
                    gpu_trust_canary(trust, gpu, at_s + 40, 1e-3);
            }
        }
    assert_true(rests > 0 && rests <= 12);
    gpu_trust_free(trust);
}

/* Off its level for a rest, and back on it. */
static void rest_once(struct gpu_trust *trust, int gpu, double at_s)
{
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, gpu, -1, at_s);
    trust_expect(trust, at_s, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, at_s, 1.1e-3);
    trust_expect(trust, at_s, GPU_TRUST_REST, gpu);
    trust_expect(trust, at_s + 5, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, at_s + 5, 1e-3);
    trust_expect(trust, at_s + 5, GPU_TRUST_GO_ON, gpu);
}

/* Of two others one is steady, with a single rest: that is half of them. */
static void half_of_the_others_must_be_steady(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    for (int gpu = 0; gpu < 3; gpu++)
        trust_start(trust, gpu, 1e-3);
    rest_once(trust, 0, 20);
    rest_once(trust, 1, 30);
    rest_once(trust, 1, 50);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 2, -1, 90);
    keeps_moving(trust, 2);
    trust_expect(trust, 400, GPU_TRUST_QUARANTINE, 2);
    gpu_trust_free(trust);
}

static void where_most_others_rest_it_is_used_as_it_is(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    for (int gpu = 0; gpu < 3; gpu++)
        trust_start(trust, gpu, 1e-3);
    for (int gpu = 0; gpu < 2; gpu++) {
        rest_once(trust, gpu, 20 + 40 * gpu);
        rest_once(trust, gpu, 40 + 40 * gpu);
    }
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 2, -1, 90);
    keeps_moving(trust, 2);
    trust_expect(trust, 400, GPU_TRUST_GO_ON, 2);
    gpu_trust_free(trust);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_off_its_level_rests_and_comes_back),
        cmocka_unit_test(a_rest_at_the_end_needs_no_canary_without_doubts),
        cmocka_unit_test(a_canary_may_be_off_by_as_much_as_the_drift),
        cmocka_unit_test(a_new_level_is_steady_within_the_drift),
        cmocka_unit_test(a_slow_drift_is_a_rest_too),
        cmocka_unit_test(noise_is_known_from_six_canaries_on),
        cmocka_unit_test(the_level_is_of_the_newest_five),
        cmocka_unit_test(the_first_rest_that_ends_is_told),
        cmocka_unit_test(a_step_to_a_new_level_is_one_rest),
        cmocka_unit_test(
            a_gpu_that_never_settles_is_quarantined_if_others_are_steady),
        cmocka_unit_test(the_only_gpu_is_used_as_it_is),
        cmocka_unit_test(cards_that_all_drift_are_all_kept),
        cmocka_unit_test(half_of_the_others_must_be_steady),
        cmocka_unit_test(where_most_others_rest_it_is_used_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
