#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/schedule/gpu_trust.h"

enum {
    JOBS = 20
};

static struct gpu_trust *three_then_one(void)
{
    struct gpu_trust_rules rules = { .every = 3,
                                     .line = CANARY_CALIBRATION_RULES,
                                     .rest_s = 5,
                                     .again_max = 8 };

    return gpu_trust_new(&rules, JOBS);
}

static struct gpu_trust_step next(struct gpu_trust *trust, double now_s)
{
    struct gpu_trust_step step = { .gpu = -2 };

    assert_true(gpu_trust_next(trust, now_s, false, &step));
    return step;
}

static void expect(struct gpu_trust *trust, double now_s,
                   enum gpu_trust_act act, int gpu)
{
    struct gpu_trust_step step = next(trust, now_s);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
}

static void expect_text(struct gpu_trust *trust, enum gpu_trust_act act,
                        int gpu, const char *text)
{
    struct gpu_trust_step step = next(trust, 0);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
    assert_string_equal(step.text, text);
}

static void expect_nothing(struct gpu_trust *trust, double now_s, bool over)
{
    struct gpu_trust_step step;

    if (gpu_trust_next(trust, now_s, over, &step))
        fail_msg("act %d of GPU %d: %s", (int)step.act, step.gpu, step.text);
}

/* The GPU joins, and its canary takes 'seconds' at time 0. */
static void start(struct gpu_trust *trust, int gpu, double seconds)
{
    gpu_trust_gpu(trust, gpu, true);
    expect(trust, 0, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, 0, seconds);
}

/* Jobs 'first' to 'first' + 2 from 'at_s' on, and the canary that is due
 * then. */
static void batch(struct gpu_trust *trust, int gpu, int first, double at_s,
                  double canary_s)
{
    for (int i = 0; i < 3; i++) {
        expect_nothing(trust, at_s, false);
        gpu_trust_measured(trust, gpu, first + i, at_s + i);
    }
    expect(trust, at_s, GPU_TRUST_CANARY, gpu);
    expect_nothing(trust, at_s, false); /* one at a time */
    gpu_trust_canary(trust, gpu, at_s + 9, canary_s);
}

static void
a_canary_is_due_at_the_start_at_intervals_and_at_the_end(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    start(trust, 0, 1e-3);
    batch(trust, 0, 0, 10, 1.001e-3);
    gpu_trust_measured(trust, 0, 3, 20);
    expect_nothing(trust, 20, false);
    assert_true(gpu_trust_next(trust, 21, true, &step));
    assert_int_equal(step.act, GPU_TRUST_CANARY);
    gpu_trust_canary(trust, 0, 22, 1e-3);
    expect_nothing(trust, 23, true);
    assert_false(gpu_trust_waits(trust));
    gpu_trust_free(trust);
}

static void a_result_without_a_time_counts_as_a_measurement(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 1);
    expect(trust, 2, GPU_TRUST_CANARY, 0);
    gpu_trust_free(trust);
}

static void nothing_to_measure_needs_no_canary(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    expect_nothing(trust, 0, true);
    gpu_trust_free(trust);
}

static void a_window_that_moved_is_measured_again(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    start(trust, 0, 1e-3);
    batch(trust, 0, 0, 10, 1e-3);
    batch(trust, 0, 6, 10, 1e-3);
    batch(trust, 0, 3, 20, 1.02e-3); /* more than 1.5 %, less than 3 % */
    expect_text(trust, GPU_TRUST_SAY, 0,
                "its canary moved by +2.0 %; 3 measurements in between are "
                "repeated");
    for (int job = 3; job < 6; job++) {
        step = next(trust, 30);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    expect_nothing(trust, 30, false);
    for (int job = 3; job < 6; job++) {
        gpu_trust_measured(trust, 0, job, 30);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    expect(trust, 31, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 32, 1.02e-3);
    expect_nothing(trust, 33, true);
    gpu_trust_free(trust);
}

/* A canary that steps up or down by 2 % every fourth time. */
static void
a_measurement_is_repeated_twice_at_most_and_all_have_a_cap(void **state)
{
    struct gpu_trust *trust = three_then_one();
    int repeats[JOBS] = { 0 }, all = 0, said = 0, canaries = 0;
    struct gpu_trust_step step;

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    for (double at_s = 0; at_s < 100; at_s++) {
        if (at_s < 60)
            gpu_trust_measured(trust, 0, (int)at_s % JOBS, at_s);
        if (!gpu_trust_next(trust, at_s, at_s >= 60, &step))
            continue;
        switch (step.act) {
        case GPU_TRUST_CANARY:
            gpu_trust_canary(trust, 0, at_s,
                             canaries++ / 4 % 2 ? 1.02e-3 : 1e-3);
            break;
        case GPU_TRUST_AGAIN:
            repeats[step.job]++;
            all++;
            gpu_trust_measured(trust, 0, step.job, at_s);
            gpu_trust_again_ended(trust, 0, step.job, true);
            break;
        default:
            said += strncmp(step.text, "8 measurements were", 19) == 0;
        }
    }
    for (int job = 0; job < JOBS; job++)
        assert_true(repeats[job] <= 2);
    assert_int_equal(all, 8);
    assert_int_equal(said, 1);
    assert_false(gpu_trust_waits(trust));
    gpu_trust_free(trust);
}

static void a_gpu_off_its_level_rests_and_comes_back(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    batch(trust, 0, 0, 10, 1e-3);
    batch(trust, 0, 6, 10, 1e-3);
    batch(trust, 0, 3, 20, 1.05e-3);
    expect_text(trust, GPU_TRUST_SAY, 0,
                "its canary moved by +5.0 %; 3 measurements in between are "
                "repeated");
    expect_text(trust, GPU_TRUST_REST, 0,
                "its canary is +5.0 % off its level; it rests for 5 s");
    expect_nothing(trust, 33, false); /* 29 and 5 s */
    assert_true(gpu_trust_waits(trust));
    assert_true(gpu_trust_rested_s(trust) == 34);
    expect(trust, 34, GPU_TRUST_CANARY, 0);
    assert_true(isinf(gpu_trust_rested_s(trust))); /* it was asked for */
    gpu_trust_canary(trust, 0, 34, 1.001e-3);
    expect_text(trust, GPU_TRUST_GO_ON, 0, "its canary is back on its level");
    for (int i = 0; i < 3; i++) /* now that it is itself */
        expect(trust, 34, GPU_TRUST_AGAIN, 0);
    expect_nothing(trust, 34, false);
    gpu_trust_free(trust);
}

/* Its canary after the rest serves repetitions alone. */
static void a_rest_at_the_end_needs_no_canary_without_doubts(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 10);
    expect(trust, 10, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 10, 1.1e-3);
    expect(trust, 10, GPU_TRUST_REST, 0);
    expect_nothing(trust, 15, true);
    assert_false(gpu_trust_waits(trust));
    expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_free(trust);
}

/* The canary that is due after three measurements. */
static void canary_at(struct gpu_trust *trust, double at_s, double seconds)
{
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, at_s);
    expect(trust, at_s, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, at_s, seconds);
}

static struct gpu_trust *with_drift(double drift)
{
    struct gpu_trust_rules rules = { .every = 3,
                                     .line = CANARY_CALIBRATION_RULES,
                                     .rest_s = 5,
                                     .again_max = 8 };

    rules.line.drift = drift;
    return gpu_trust_new(&rules, JOBS);
}

/* 1/32 is exact. */
static void a_canary_may_be_off_by_as_much_as_the_drift(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    start(trust, 0, 1);
    canary_at(trust, 10, 1.03125);
    expect_nothing(trust, 10, false);
    gpu_trust_free(trust);
}

/* So may the canary after a rest be of the one before. */
static void a_new_level_is_steady_within_the_drift(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    start(trust, 0, 1);
    canary_at(trust, 10, 2);
    expect(trust, 10, GPU_TRUST_REST, 0);
    expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 15, 2.0625);
    expect_text(trust, GPU_TRUST_GO_ON, 0,
                "its canary is steady on a new level");
    gpu_trust_free(trust);
}

/* Each is near the one before, and the third is off the level. */
static void a_slow_drift_is_a_rest_too(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    start(trust, 0, 1);
    canary_at(trust, 10, 1);
    canary_at(trust, 20, 1.03);
    canary_at(trust, 30, 1.05);
    expect_text(trust, GPU_TRUST_REST, 0,
                "its canary is +5.0 % off its level; it rests for 5 s");
    gpu_trust_free(trust);
}

/* The level is the median of the newest five: 1, 1, 2, 2, 2. */
static void the_level_is_of_the_newest_five(void **state)
{
    static const double seconds[] = { 1, 1, 1, 2, 2, 2 };
    struct gpu_trust *trust = with_drift(1.5);

    (void)state;
    start(trust, 0, 1);
    for (int i = 0; i < 6; i++)
        canary_at(trust, 10 + i, seconds[i]);
    expect_nothing(trust, 20, false);
    canary_at(trust, 20, 6); /* 3 times 2, and 6 times 1 */
    expect_text(trust, GPU_TRUST_REST, 0,
                "its canary is +200.0 % off its level; it rests for 5 s");
    gpu_trust_free(trust);
}

/* The GPU that may go on first. */
static void the_first_rest_that_ends_is_told(void **state)
{
    struct gpu_trust *trust = with_drift(0.03125);

    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        start(trust, gpu, 1);
        for (int i = 0; i < 3; i++)
            gpu_trust_measured(trust, gpu, -1, 10);
        expect(trust, 10, GPU_TRUST_CANARY, gpu);
        gpu_trust_canary(trust, gpu, 10 + 10 * gpu, 2);
        expect(trust, 10, GPU_TRUST_REST, gpu);
    }
    assert_true(gpu_trust_rested_s(trust) == 15);
    expect(trust, 16, GPU_TRUST_CANARY, 0);
    assert_true(gpu_trust_rested_s(trust) == 25);
    gpu_trust_free(trust);
}

static void a_step_to_a_new_level_is_one_rest(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    batch(trust, 0, 0, 10, 1.05e-3);
    expect(trust, 20, GPU_TRUST_SAY, 0);
    expect(trust, 20, GPU_TRUST_REST, 0);
    expect(trust, 40, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 41, 1.051e-3);
    expect_text(trust, GPU_TRUST_GO_ON, 0,
                "its canary is steady on a new level");
    for (int job = 0; job < 3; job++) {
        expect(trust, 42, GPU_TRUST_AGAIN, 0);
        gpu_trust_measured(trust, 0, job, 43);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    expect(trust, 44, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 45, 1.05e-3);
    batch(trust, 0, 3, 50, 1.05e-3); /* nothing can be said about these */
    expect_nothing(trust, 60, true);
    gpu_trust_free(trust);
}

/* Another 10 % off after each rest. */
static void keeps_moving(struct gpu_trust *trust, int gpu)
{
    double seconds = 1.1e-3, now_s = 100;

    expect(trust, now_s, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, now_s, seconds);
    for (int i = 0; i < 3; i++) {
        struct gpu_trust_step step = next(trust, now_s);

        if (step.act == GPU_TRUST_SAY)
            step = next(trust, now_s);
        assert_int_equal(step.act, GPU_TRUST_REST);
        now_s += 60;
        expect(trust, now_s, GPU_TRUST_CANARY, gpu);
        seconds *= 1.1;
        gpu_trust_canary(trust, gpu, now_s, seconds);
    }
}

static void
a_gpu_that_never_settles_is_quarantined_if_others_are_steady(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    start(trust, 0, 1e-3);
    start(trust, 1, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 1, i, 1);
    keeps_moving(trust, 1);
    expect_text(trust, GPU_TRUST_QUARANTINE, 1,
                "its canary is +46.4 % off its level after 3 rests");
    assert_true(gpu_trust_is_quarantined(trust, 1));
    assert_false(gpu_trust_is_quarantined(trust, 0));
    for (int job = 0; job < 3; job++) { /* elsewhere */
        step = next(trust, 300);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    gpu_trust_measured(trust, 1, 7, 301); /* was under way: late */
    expect_nothing(trust, 400, false);
    gpu_trust_free(trust);
}

static void the_only_gpu_is_used_as_it_is(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 1);
    keeps_moving(trust, 0);
    expect_text(trust, GPU_TRUST_GO_ON, 0,
                "its canary does not settle; it is used as it is");
    assert_false(gpu_trust_is_quarantined(trust, 0));
    expect_nothing(trust, 400, false);
    gpu_trust_free(trust);
}

/* Two power-capped cards: fast after each rest, slow under load. */
static void cards_that_all_drift_are_all_kept(void **state)
{
    struct gpu_trust *trust = three_then_one();
    int rests = 0;

    (void)state;
    start(trust, 0, 1e-3);
    start(trust, 1, 1e-3);
    for (int round = 0; round < 40; round++)
        for (int gpu = 0; gpu < 2; gpu++) {
            double at_s = 100 * (round + 1) + gpu;
            struct gpu_trust_step step;

            for (int i = 0; i < 3; i++)
                gpu_trust_measured(trust, gpu, -1, at_s);
            expect(trust, at_s, GPU_TRUST_CANARY, gpu);
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

static void a_wrong_canary_is_tried_again_and_then_quarantines(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    start(trust, 1, 1e-3);
    batch(trust, 1, 0, 10, 1e-3);
    gpu_trust_measured(trust, 1, 3, 20);
    gpu_trust_measured(trust, 1, 4, 21);
    gpu_trust_measured(trust, 1, 5, 22);
    expect(trust, 23, GPU_TRUST_CANARY, 1);
    gpu_trust_canary_wrong(trust, 1, "wrong at 7");
    expect(trust, 23, GPU_TRUST_CANARY, 1);
    gpu_trust_canary_wrong(trust, 1, "wrong at 9");
    expect_text(trust, GPU_TRUST_QUARANTINE, 1,
                "its canary failed 2 times: wrong at 9");
    for (int job = 3; job < 6; job++) /* measured since its last correct
                                       * canary */
        expect(trust, 24, GPU_TRUST_AGAIN, 0);
    expect_nothing(trust, 24, false);
    gpu_trust_free(trust);
}

static void a_canary_that_is_right_nowhere_blames_no_gpu(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    for (int i = 0; i < 2; i++) {
        expect(trust, 0, GPU_TRUST_CANARY, 0);
        gpu_trust_canary_wrong(trust, 0, "wrong at 7");
    }
    expect_text(trust, GPU_TRUST_SAY, 0,
                "its canary failed 2 times: wrong at 7; it was never right on "
                "any GPU, so this GPU is not to blame");
    expect_nothing(trust, 1, false);
    expect_nothing(trust, 1, true);
    gpu_trust_free(trust);
}

static void repeats_of_a_lost_gpu_go_to_another(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    start(trust, 0, 1e-3);
    start(trust, 1, 1e-3);
    batch(trust, 1, 0, 10, 1.02e-3);
    expect(trust, 20, GPU_TRUST_SAY, 1);
    for (int job = 0; job < 3; job++)
        expect(trust, 20, GPU_TRUST_AGAIN, 1);
    gpu_trust_gpu(trust, 1, false);
    for (int job = 0; job < 3; job++)
        gpu_trust_again_ended(trust, 1, job, false);
    for (int job = 0; job < 3; job++) {
        step = next(trust, 20);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
        gpu_trust_again_ended(trust, 0, job, false); /* for good */
    }
    expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

static void
a_canary_that_never_comes_about_is_not_asked_for_for_ever(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;
    int asked = 0;

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    while (gpu_trust_next(trust, 0, false, &step)) {
        gpu_trust_canary_gone(trust, 0);
        asked++;
    }
    assert_int_equal(asked, 5);
    gpu_trust_free(trust);
}

static void a_gpu_quarantined_earlier_gets_no_canary(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    gpu_trust_ban(trust, 1);
    gpu_trust_gpu(trust, 1, true);
    assert_true(gpu_trust_is_quarantined(trust, 1));
    assert_false(gpu_trust_is_trusted(trust, 1));
    expect_nothing(trust, 0, false);
    gpu_trust_free(trust);
}

static void an_earlier_run_is_continued(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    gpu_trust_had_canary(trust, 0, 0, 1e-3);
    gpu_trust_had(trust, 0, 4, 0, 5); /* after the last canary of that run */
    gpu_trust_had(trust, 0, 5, 2, 6); /* repeated as often as allowed */
    gpu_trust_had(trust, 0, 4, 0, -3);
    gpu_trust_gpu(trust, 0, true);
    expect(trust, 1000, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 1000, 1.1e-3); /* another day, another level */
    expect(trust, 1000, GPU_TRUST_SAY, 0);
    step = next(trust, 1000);
    assert_int_equal(step.act, GPU_TRUST_AGAIN);
    assert_int_equal(step.job, 4);
    expect_nothing(trust, 1000, false); /* and no rest */
    gpu_trust_free(trust);
}

/* Four are in doubt and three are repeated at a time: the canary of the last
 * batch was long in coming. */
static void
no_more_are_repeated_at_a_time_than_lie_between_canaries(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    for (int job = 0; job < 4; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    expect(trust, 20, GPU_TRUST_SAY, 0);
    for (int i = 0; i < 3; i++)
        expect(trust, 20, GPU_TRUST_AGAIN, 0);
    expect_nothing(trust, 20, false);
    gpu_trust_again_ended(trust, 0, 0, true);
    expect(trust, 20, GPU_TRUST_AGAIN, 0);
    gpu_trust_free(trust);
}

/* Likewise on another GPU, when the one where they were measured is gone. */
static void nor_on_another_gpu(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    start(trust, 1, 1e-3);
    for (int job = 0; job < 4; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    expect(trust, 20, GPU_TRUST_SAY, 0);
    gpu_trust_gpu(trust, 0, false);
    for (int i = 0; i < 3; i++)
        expect(trust, 20, GPU_TRUST_AGAIN, 1);
    expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

/* Canaries at 0, 5, 10 and 20; they differ between the last two. */
static void a_window_is_open_at_its_start_and_closed_at_its_end(void **state)
{
    static const double at_s[] = { 10, 10.5, 20 };
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    gpu_trust_canary(trust, 0, 5, 1e-3);
    gpu_trust_canary(trust, 0, 10, 1e-3);
    for (int job = 0; job < 3; job++)
        gpu_trust_measured(trust, 0, job, at_s[job]);
    expect(trust, 20, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    expect_text(trust, GPU_TRUST_SAY, 0,
                "its canary moved by +2.0 %; 2 measurements in between are "
                "repeated");
    for (int job = 1; job < 3; job++)
        assert_int_equal(next(trust, 20).job, job);
    expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

/* Off its level for a rest, and back on it. */
static void rest_once(struct gpu_trust *trust, int gpu, double at_s)
{
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, gpu, -1, at_s);
    expect(trust, at_s, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, at_s, 1.1e-3);
    expect(trust, at_s, GPU_TRUST_REST, gpu);
    expect(trust, at_s + 5, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, at_s + 5, 1e-3);
    expect(trust, at_s + 5, GPU_TRUST_GO_ON, gpu);
}

/* Of two others one is steady, with a single rest: that is half of them. */
static void half_of_the_others_must_be_steady(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    for (int gpu = 0; gpu < 3; gpu++)
        start(trust, gpu, 1e-3);
    rest_once(trust, 0, 20);
    rest_once(trust, 1, 30);
    rest_once(trust, 1, 50);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 2, -1, 90);
    keeps_moving(trust, 2);
    expect(trust, 400, GPU_TRUST_QUARANTINE, 2);
    gpu_trust_free(trust);
}

static void where_most_others_rest_it_is_used_as_it_is(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    for (int gpu = 0; gpu < 3; gpu++)
        start(trust, gpu, 1e-3);
    for (int gpu = 0; gpu < 2; gpu++) {
        rest_once(trust, gpu, 20 + 40 * gpu);
        rest_once(trust, gpu, 40 + 40 * gpu);
    }
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 2, -1, 90);
    keeps_moving(trust, 2);
    expect(trust, 400, GPU_TRUST_GO_ON, 2);
    gpu_trust_free(trust);
}

static void one_that_was_never_seen_is_trusted(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    start(trust, 0, 1e-3);
    assert_true(gpu_trust_is_trusted(trust, 0));
    assert_true(gpu_trust_is_trusted(trust, 1));
    assert_false(gpu_trust_is_quarantined(trust, 1));
    gpu_trust_free(trust);
}

static void of_two_results_of_a_time_the_later_told_counts(void **state)
{
    struct gpu_trust *trust = three_then_one();

    (void)state;
    gpu_trust_had_canary(trust, 0, 0, 1e-3);
    gpu_trust_had(trust, 0, 4, 0, 5);
    gpu_trust_had(trust, 0, 4, 2, 5); /* as often as it may be */
    gpu_trust_gpu(trust, 0, true);
    expect(trust, 1000, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 1000, 1.1e-3);
    expect_nothing(trust, 1000, false);
    gpu_trust_free(trust);
}

/* At the end, what is repeated comes before the last canary. */
static void the_last_canary_waits_for_what_is_repeated(void **state)
{
    struct gpu_trust *trust = three_then_one();
    struct gpu_trust_step step;

    (void)state;
    start(trust, 0, 1e-3);
    for (int job = 0; job < 3; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    expect(trust, 20, GPU_TRUST_SAY, 0);
    for (int job = 0; job < 3; job++) {
        assert_true(gpu_trust_next(trust, 20, true, &step));
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
    }
    for (int job = 0; job < 3; job++) {
        gpu_trust_measured(trust, 0, -1, 30);
        if (job < 2)
            expect_nothing(trust, 30, true);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    assert_true(gpu_trust_next(trust, 30, true, &step));
    assert_int_equal(step.act, GPU_TRUST_CANARY);
    gpu_trust_free(trust);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_canary_is_due_at_the_start_at_intervals_and_at_the_end),
        cmocka_unit_test(a_result_without_a_time_counts_as_a_measurement),
        cmocka_unit_test(nothing_to_measure_needs_no_canary),
        cmocka_unit_test(a_window_that_moved_is_measured_again),
        cmocka_unit_test(
            a_measurement_is_repeated_twice_at_most_and_all_have_a_cap),
        cmocka_unit_test(a_gpu_off_its_level_rests_and_comes_back),
        cmocka_unit_test(a_rest_at_the_end_needs_no_canary_without_doubts),
        cmocka_unit_test(a_canary_may_be_off_by_as_much_as_the_drift),
        cmocka_unit_test(a_new_level_is_steady_within_the_drift),
        cmocka_unit_test(a_slow_drift_is_a_rest_too),
        cmocka_unit_test(the_level_is_of_the_newest_five),
        cmocka_unit_test(the_first_rest_that_ends_is_told),
        cmocka_unit_test(a_step_to_a_new_level_is_one_rest),
        cmocka_unit_test(
            a_gpu_that_never_settles_is_quarantined_if_others_are_steady),
        cmocka_unit_test(the_only_gpu_is_used_as_it_is),
        cmocka_unit_test(cards_that_all_drift_are_all_kept),
        cmocka_unit_test(a_wrong_canary_is_tried_again_and_then_quarantines),
        cmocka_unit_test(a_canary_that_is_right_nowhere_blames_no_gpu),
        cmocka_unit_test(repeats_of_a_lost_gpu_go_to_another),
        cmocka_unit_test(
            a_canary_that_never_comes_about_is_not_asked_for_for_ever),
        cmocka_unit_test(a_gpu_quarantined_earlier_gets_no_canary),
        cmocka_unit_test(an_earlier_run_is_continued),
        cmocka_unit_test(
            no_more_are_repeated_at_a_time_than_lie_between_canaries),
        cmocka_unit_test(nor_on_another_gpu),
        cmocka_unit_test(a_window_is_open_at_its_start_and_closed_at_its_end),
        cmocka_unit_test(half_of_the_others_must_be_steady),
        cmocka_unit_test(where_most_others_rest_it_is_used_as_it_is),
        cmocka_unit_test(one_that_was_never_seen_is_trusted),
        cmocka_unit_test(of_two_results_of_a_time_the_later_told_counts),
        cmocka_unit_test(the_last_canary_waits_for_what_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
