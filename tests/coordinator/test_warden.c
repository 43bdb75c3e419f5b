#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/warden.h"

enum {
    JOBS = 20
};

static struct warden *three_then_one(void)
{
    struct warden_rules rules = {
        .every = 3, .line = CALIBRATION_RULES, .rest_s = 5, .again_max = 8
    };

    return warden_new(&rules, JOBS);
}

static struct warden_step next(struct warden *warden, double now_s)
{
    struct warden_step step = { .gpu = -2 };

    assert_true(warden_next(warden, now_s, false, &step));
    return step;
}

static void expect(struct warden *warden, double now_s, enum warden_act act,
                   int gpu)
{
    struct warden_step step = next(warden, now_s);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
}

static void expect_text(struct warden *warden, enum warden_act act, int gpu,
                        const char *text)
{
    struct warden_step step = next(warden, 0);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
    assert_string_equal(step.text, text);
}

static void expect_nothing(struct warden *warden, double now_s, bool over)
{
    struct warden_step step;

    if (warden_next(warden, now_s, over, &step))
        fail_msg("act %d of GPU %d: %s", (int)step.act, step.gpu, step.text);
}

/* It comes, and its canary takes 'seconds' at 0. */
static void start(struct warden *warden, int gpu, double seconds)
{
    warden_gpu(warden, gpu, true);
    expect(warden, 0, WARDEN_CANARY, gpu);
    warden_canary(warden, gpu, 0, seconds);
}

/* Jobs 'first' to 'first' + 2 at 'at_s' on, and the canary that is due. */
static void batch(struct warden *warden, int gpu, int first, double at_s,
                  double canary_s)
{
    for (int i = 0; i < 3; i++) {
        expect_nothing(warden, at_s, false);
        warden_measured(warden, gpu, first + i, at_s + i);
    }
    expect(warden, at_s, WARDEN_CANARY, gpu);
    expect_nothing(warden, at_s, false); /* one at a time */
    warden_canary(warden, gpu, at_s + 9, canary_s);
}

static void at_the_start_every_so_often_and_at_the_end(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;

    (void)state;
    start(warden, 0, 1e-3);
    batch(warden, 0, 0, 10, 1.001e-3);
    warden_measured(warden, 0, 3, 20);
    expect_nothing(warden, 20, false);
    assert_true(warden_next(warden, 21, true, &step));
    assert_int_equal(step.act, WARDEN_CANARY);
    warden_canary(warden, 0, 22, 1e-3);
    expect_nothing(warden, 23, true);
    assert_false(warden_waits(warden));
    warden_free(warden);
}

static void what_has_no_time_counts_as_a_measurement(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    start(warden, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        warden_measured(warden, 0, -1, 1);
    expect(warden, 2, WARDEN_CANARY, 0);
    warden_free(warden);
}

static void nothing_to_measure_needs_no_canary(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    warden_gpu(warden, 0, true);
    expect_nothing(warden, 0, true);
    warden_free(warden);
}

static void a_window_that_moved_is_measured_again(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;

    (void)state;
    start(warden, 0, 1e-3);
    batch(warden, 0, 0, 10, 1e-3);
    batch(warden, 0, 6, 10, 1e-3);
    batch(warden, 0, 3, 20, 1.02e-3); /* more than 1.5 %, less than 3 % */
    expect_text(warden, WARDEN_SAY, 0,
                "its canary moved by +2.0 %; 3 measurements in between are "
                "repeated");
    for (int job = 3; job < 6; job++) {
        step = next(warden, 30);
        assert_int_equal(step.act, WARDEN_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    expect_nothing(warden, 30, false);
    for (int job = 3; job < 6; job++) {
        warden_measured(warden, 0, job, 30);
        warden_again_ended(warden, 0, job, true);
    }
    expect(warden, 31, WARDEN_CANARY, 0);
    warden_canary(warden, 0, 32, 1.02e-3);
    expect_nothing(warden, 33, true);
    warden_free(warden);
}

/* A canary that steps up or down by 2 % every fourth time. */
static void
a_measurement_is_repeated_twice_at_most_and_all_have_a_cap(void **state)
{
    struct warden *warden = three_then_one();
    int repeats[JOBS] = { 0 }, all = 0, said = 0, canaries = 0;
    struct warden_step step;

    (void)state;
    warden_gpu(warden, 0, true);
    for (double at_s = 0; at_s < 100; at_s++) {
        if (at_s < 60)
            warden_measured(warden, 0, (int)at_s % JOBS, at_s);
        if (!warden_next(warden, at_s, at_s >= 60, &step))
            continue;
        switch (step.act) {
        case WARDEN_CANARY:
            warden_canary(warden, 0, at_s, canaries++ / 4 % 2 ? 1.02e-3 : 1e-3);
            break;
        case WARDEN_AGAIN:
            repeats[step.job]++;
            all++;
            warden_measured(warden, 0, step.job, at_s);
            warden_again_ended(warden, 0, step.job, true);
            break;
        default:
            said += strncmp(step.text, "8 measurements were", 19) == 0;
        }
    }
    for (int job = 0; job < JOBS; job++)
        assert_true(repeats[job] <= 2);
    assert_int_equal(all, 8);
    assert_int_equal(said, 1);
    assert_false(warden_waits(warden));
    warden_free(warden);
}

static void a_gpu_off_its_level_rests_and_comes_back(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    start(warden, 0, 1e-3);
    batch(warden, 0, 0, 10, 1e-3);
    batch(warden, 0, 6, 10, 1e-3);
    batch(warden, 0, 3, 20, 1.05e-3);
    expect_text(warden, WARDEN_SAY, 0,
                "its canary moved by +5.0 %; 3 measurements in between are "
                "repeated");
    expect_text(warden, WARDEN_REST, 0,
                "its canary is +5.0 % off its level; it rests for 5 s");
    expect_nothing(warden, 33, false); /* 29 and 5 s */
    assert_true(warden_waits(warden));
    expect(warden, 34, WARDEN_CANARY, 0);
    warden_canary(warden, 0, 34, 1.001e-3);
    expect_text(warden, WARDEN_GO_ON, 0, "its canary is back on its level");
    for (int i = 0; i < 3; i++) /* now that it is itself */
        expect(warden, 34, WARDEN_AGAIN, 0);
    expect_nothing(warden, 34, false);
    warden_free(warden);
}

static void a_step_to_a_new_level_is_one_rest(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    start(warden, 0, 1e-3);
    batch(warden, 0, 0, 10, 1.05e-3);
    expect(warden, 20, WARDEN_SAY, 0);
    expect(warden, 20, WARDEN_REST, 0);
    expect(warden, 40, WARDEN_CANARY, 0);
    warden_canary(warden, 0, 41, 1.051e-3);
    expect_text(warden, WARDEN_GO_ON, 0, "its canary is steady on a new level");
    for (int job = 0; job < 3; job++) {
        expect(warden, 42, WARDEN_AGAIN, 0);
        warden_measured(warden, 0, job, 43);
        warden_again_ended(warden, 0, job, true);
    }
    expect(warden, 44, WARDEN_CANARY, 0);
    warden_canary(warden, 0, 45, 1.05e-3);
    batch(warden, 0, 3, 50, 1.05e-3); /* of which nothing is to be said */
    expect_nothing(warden, 60, true);
    warden_free(warden);
}

/* Off by another 10 % after each rest. */
static void keeps_moving(struct warden *warden, int gpu)
{
    double seconds = 1.1e-3, now_s = 100;

    expect(warden, now_s, WARDEN_CANARY, gpu);
    warden_canary(warden, gpu, now_s, seconds);
    for (int i = 0; i < 3; i++) {
        struct warden_step step = next(warden, now_s);

        if (step.act == WARDEN_SAY)
            step = next(warden, now_s);
        assert_int_equal(step.act, WARDEN_REST);
        now_s += 60;
        expect(warden, now_s, WARDEN_CANARY, gpu);
        seconds *= 1.1;
        warden_canary(warden, gpu, now_s, seconds);
    }
}

static void one_that_never_settles_is_quarantined_where_others_are(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;

    (void)state;
    start(warden, 0, 1e-3);
    start(warden, 1, 1e-3);
    for (int i = 0; i < 3; i++)
        warden_measured(warden, 1, i, 1);
    keeps_moving(warden, 1);
    expect_text(warden, WARDEN_QUARANTINE, 1,
                "its canary is +46.4 % off its level after 3 rests");
    assert_true(warden_is_quarantined(warden, 1));
    assert_false(warden_is_quarantined(warden, 0));
    for (int job = 0; job < 3; job++) { /* elsewhere */
        step = next(warden, 300);
        assert_int_equal(step.act, WARDEN_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    warden_measured(warden, 1, 7, 301); /* was under way: late */
    expect_nothing(warden, 400, false);
    warden_free(warden);
}

static void the_only_one_is_used_as_it_is(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    start(warden, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        warden_measured(warden, 0, -1, 1);
    keeps_moving(warden, 0);
    expect_text(warden, WARDEN_GO_ON, 0,
                "its canary does not settle; it is used as it is");
    assert_false(warden_is_quarantined(warden, 0));
    expect_nothing(warden, 400, false);
    warden_free(warden);
}

/* Two power-capped cards, fast after each rest and slow under load. */
static void cards_that_all_drift_are_all_kept(void **state)
{
    struct warden *warden = three_then_one();
    int rests = 0;

    (void)state;
    start(warden, 0, 1e-3);
    start(warden, 1, 1e-3);
    for (int round = 0; round < 40; round++)
        for (int gpu = 0; gpu < 2; gpu++) {
            double at_s = 100 * (round + 1) + gpu;
            struct warden_step step;

            for (int i = 0; i < 3; i++)
                warden_measured(warden, gpu, -1, at_s);
            expect(warden, at_s, WARDEN_CANARY, gpu);
            warden_canary(warden, gpu, at_s, 1.1e-3);
            while (warden_next(warden, at_s + 40, false, &step)) {
                assert_int_not_equal(step.act, WARDEN_QUARANTINE);
                rests += step.act == WARDEN_REST;
                if (step.act == WARDEN_CANARY)
                    warden_canary(warden, gpu, at_s + 40, 1e-3);
            }
        }
    assert_true(rests > 0 && rests <= 12);
    warden_free(warden);
}

static void a_wrong_canary_is_tried_again_and_then_quarantines(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    start(warden, 0, 1e-3);
    start(warden, 1, 1e-3);
    batch(warden, 1, 0, 10, 1e-3);
    warden_measured(warden, 1, 3, 20);
    warden_measured(warden, 1, 4, 21);
    warden_measured(warden, 1, 5, 22);
    expect(warden, 23, WARDEN_CANARY, 1);
    warden_canary_wrong(warden, 1, "wrong at 7");
    expect(warden, 23, WARDEN_CANARY, 1);
    warden_canary_wrong(warden, 1, "wrong at 9");
    expect_text(warden, WARDEN_QUARANTINE, 1,
                "its canary failed 2 times: wrong at 9");
    for (int job = 3; job < 6; job++) /* what was measured since it was right */
        expect(warden, 24, WARDEN_AGAIN, 0);
    expect_nothing(warden, 24, false);
    warden_free(warden);
}

static void a_canary_that_is_right_nowhere_blames_no_gpu(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    warden_gpu(warden, 0, true);
    for (int i = 0; i < 2; i++) {
        expect(warden, 0, WARDEN_CANARY, 0);
        warden_canary_wrong(warden, 0, "wrong at 7");
    }
    expect_text(warden, WARDEN_SAY, 0,
                "its canary failed 2 times: wrong at 7; as it was right "
                "nowhere, the GPU is not to blame");
    expect_nothing(warden, 1, false);
    expect_nothing(warden, 1, true);
    warden_free(warden);
}

static void what_a_lost_gpu_was_to_repeat_goes_elsewhere(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;

    (void)state;
    start(warden, 0, 1e-3);
    start(warden, 1, 1e-3);
    batch(warden, 1, 0, 10, 1.02e-3);
    expect(warden, 20, WARDEN_SAY, 1);
    for (int job = 0; job < 3; job++)
        expect(warden, 20, WARDEN_AGAIN, 1);
    warden_gpu(warden, 1, false);
    for (int job = 0; job < 3; job++)
        warden_again_ended(warden, 1, job, false);
    for (int job = 0; job < 3; job++) {
        step = next(warden, 20);
        assert_int_equal(step.act, WARDEN_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
        warden_again_ended(warden, 0, job, false); /* for good */
    }
    expect_nothing(warden, 20, false);
    warden_free(warden);
}

static void
a_canary_that_never_comes_about_is_not_asked_for_for_ever(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;
    int asked = 0;

    (void)state;
    warden_gpu(warden, 0, true);
    while (warden_next(warden, 0, false, &step)) {
        warden_canary_gone(warden, 0);
        asked++;
    }
    assert_int_equal(asked, 5);
    warden_free(warden);
}

static void one_that_was_quarantined_before_is_not_asked(void **state)
{
    struct warden *warden = three_then_one();

    (void)state;
    warden_ban(warden, 1);
    warden_gpu(warden, 1, true);
    assert_true(warden_is_quarantined(warden, 1));
    assert_false(warden_is_trusted(warden, 1));
    expect_nothing(warden, 0, false);
    warden_free(warden);
}

static void an_earlier_run_is_gone_on_with(void **state)
{
    struct warden *warden = three_then_one();
    struct warden_step step;

    (void)state;
    warden_had_canary(warden, 0, 0, 1e-3);
    warden_had(warden, 0, 4, 0, 5); /* after the last canary of that run */
    warden_had(warden, 0, 5, 2, 6); /* repeated as often as it may be */
    warden_had(warden, 0, 4, 0, -3);
    warden_gpu(warden, 0, true);
    expect(warden, 1000, WARDEN_CANARY, 0);
    warden_canary(warden, 0, 1000, 1.1e-3); /* another day, another level */
    expect(warden, 1000, WARDEN_SAY, 0);
    step = next(warden, 1000);
    assert_int_equal(step.act, WARDEN_AGAIN);
    assert_int_equal(step.job, 4);
    expect_nothing(warden, 1000, false); /* and no rest */
    warden_free(warden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_start_every_so_often_and_at_the_end),
        cmocka_unit_test(what_has_no_time_counts_as_a_measurement),
        cmocka_unit_test(nothing_to_measure_needs_no_canary),
        cmocka_unit_test(a_window_that_moved_is_measured_again),
        cmocka_unit_test(
            a_measurement_is_repeated_twice_at_most_and_all_have_a_cap),
        cmocka_unit_test(a_gpu_off_its_level_rests_and_comes_back),
        cmocka_unit_test(a_step_to_a_new_level_is_one_rest),
        cmocka_unit_test(
            one_that_never_settles_is_quarantined_where_others_are),
        cmocka_unit_test(the_only_one_is_used_as_it_is),
        cmocka_unit_test(cards_that_all_drift_are_all_kept),
        cmocka_unit_test(a_wrong_canary_is_tried_again_and_then_quarantines),
        cmocka_unit_test(a_canary_that_is_right_nowhere_blames_no_gpu),
        cmocka_unit_test(what_a_lost_gpu_was_to_repeat_goes_elsewhere),
        cmocka_unit_test(
            a_canary_that_never_comes_about_is_not_asked_for_for_ever),
        cmocka_unit_test(one_that_was_quarantined_before_is_not_asked),
        cmocka_unit_test(an_earlier_run_is_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
