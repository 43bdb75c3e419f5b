#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/coordinator/schedule/gpu_trust_fixture.h"

static void
a_canary_is_due_at_the_start_at_intervals_and_at_the_end(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_batch(trust, 0, 0, 10, 1.001e-3);
    gpu_trust_measured(trust, 0, 3, 20);
    trust_expect_nothing(trust, 20, false);
    assert_true(gpu_trust_next(trust, 21, true, &step));
    assert_int_equal(step.act, GPU_TRUST_CANARY);
    gpu_trust_canary(trust, 0, 22, 1e-3);
    trust_expect_nothing(trust, 23, true);
    assert_false(gpu_trust_waits(trust));
    gpu_trust_free(trust);
}

static void a_result_without_a_time_counts_as_a_measurement(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    for (int i = 0; i < 3; i++)
        gpu_trust_measured(trust, 0, -1, 1);
    trust_expect(trust, 2, GPU_TRUST_CANARY, 0);
    gpu_trust_free(trust);
}

static void nothing_to_measure_needs_no_canary(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    trust_expect_nothing(trust, 0, true);
    gpu_trust_free(trust);
}

static void a_wrong_canary_is_tried_again_and_then_quarantines(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_start(trust, 1, 1e-3);
    trust_batch(trust, 1, 0, 10, 1e-3);
    gpu_trust_measured(trust, 1, 3, 20);
    gpu_trust_measured(trust, 1, 4, 21);
    gpu_trust_measured(trust, 1, 5, 22);
    trust_expect(trust, 23, GPU_TRUST_CANARY, 1);
    gpu_trust_canary_wrong(trust, 1, "wrong at 7");
    trust_expect(trust, 23, GPU_TRUST_CANARY, 1);
    gpu_trust_canary_wrong(trust, 1, "wrong at 9");
    trust_expect_text(trust, GPU_TRUST_QUARANTINE, 1,
                      "its canary failed 2 times: wrong at 9");
    for (int job = 3; job < 6; job++) /* measured since its last correct
                                       * canary */
        trust_expect(trust, 24, GPU_TRUST_AGAIN, 0);
    trust_expect_nothing(trust, 24, false);
    gpu_trust_free(trust);
}

static void a_canary_that_is_right_nowhere_blames_no_gpu(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    for (int i = 0; i < 2; i++) {
        trust_expect(trust, 0, GPU_TRUST_CANARY, 0);
        gpu_trust_canary_wrong(trust, 0, "wrong at 7");
    }
    trust_expect_text(
        trust, GPU_TRUST_SAY, 0,
        "its canary failed 2 times: wrong at 7; it was never right on "
        "any GPU, so this GPU is not to blame");
    trust_expect_nothing(trust, 1, false);
    trust_expect_nothing(trust, 1, true);
    gpu_trust_free(trust);
}

static void
a_canary_that_never_comes_about_is_not_asked_for_for_ever(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
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

/* One measurement is the last; its canary is not measured, or is wrong. */
static void the_last_canary_is_asked_for_again(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    gpu_trust_measured(trust, 0, 0, 10);
    for (int i = 0; i < 3; i++) {
        assert_true(gpu_trust_next(trust, 11, true, &step));
        assert_int_equal(step.act, GPU_TRUST_CANARY);
        if (i == 0)
            gpu_trust_canary_gone(trust, 0);
        else if (i == 1)
            gpu_trust_canary_wrong(trust, 0, "wrong at 7");
    }
    gpu_trust_canary(trust, 0, 12, 1e-3);
    trust_expect_nothing(trust, 13, true);
    gpu_trust_free(trust);
}

static void a_gpu_quarantined_earlier_gets_no_canary(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    gpu_trust_ban(trust, 1);
    gpu_trust_gpu(trust, 1, true);
    assert_true(gpu_trust_is_quarantined(trust, 1));
    assert_false(gpu_trust_is_trusted(trust, 1));
    trust_expect_nothing(trust, 0, false);
    gpu_trust_free(trust);
}

static void an_earlier_run_is_continued(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    gpu_trust_had_canary(trust, 0, 0, 1e-3);
    gpu_trust_had(trust, 0, 4, 0, 5); /* after the last canary of that run */
    gpu_trust_had(trust, 0, 5, 2, 6); /* repeated as often as allowed */
    gpu_trust_had(trust, 0, 4, 0, -3);
    gpu_trust_gpu(trust, 0, true);
    trust_expect(trust, 1000, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 1000, 1.1e-3); /* another day, another level */
    trust_expect(trust, 1000, GPU_TRUST_SAY, 0);
    step = trust_next(trust, 1000);
    assert_int_equal(step.act, GPU_TRUST_AGAIN);
    assert_int_equal(step.job, 4);
    trust_expect_nothing(trust, 1000, false); /* and no rest */
    gpu_trust_free(trust);
}

static void one_that_was_never_seen_is_trusted(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    assert_true(gpu_trust_is_trusted(trust, 0));
    assert_true(gpu_trust_is_trusted(trust, 1));
    assert_false(gpu_trust_is_quarantined(trust, 1));
    gpu_trust_free(trust);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_canary_is_due_at_the_start_at_intervals_and_at_the_end),
        cmocka_unit_test(a_result_without_a_time_counts_as_a_measurement),
        cmocka_unit_test(nothing_to_measure_needs_no_canary),
        cmocka_unit_test(a_wrong_canary_is_tried_again_and_then_quarantines),
        cmocka_unit_test(a_canary_that_is_right_nowhere_blames_no_gpu),
        cmocka_unit_test(
            a_canary_that_never_comes_about_is_not_asked_for_for_ever),
        cmocka_unit_test(the_last_canary_is_asked_for_again),
        cmocka_unit_test(a_gpu_quarantined_earlier_gets_no_canary),
        cmocka_unit_test(an_earlier_run_is_continued),
        cmocka_unit_test(one_that_was_never_seen_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
