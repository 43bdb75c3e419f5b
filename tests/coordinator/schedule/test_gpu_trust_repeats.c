#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "tests/coordinator/schedule/gpu_trust_fixture.h"

static void a_window_that_moved_is_measured_again(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_batch(trust, 0, 0, 10, 1e-3);
    trust_batch(trust, 0, 6, 10, 1e-3);
    trust_batch(trust, 0, 3, 20, 1.02e-3); /* more than 1.5 %, less than 3 % */
    trust_expect_text(
        trust, GPU_TRUST_SAY, 0,
        "its canary moved by +2.0 %; 3 measurements in between are "
        "repeated");
    for (int job = 3; job < 6; job++) {
        step = trust_next(trust, 30);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
    }
    trust_expect_nothing(trust, 30, false);
    for (int job = 3; job < 6; job++) {
        gpu_trust_measured(trust, 0, job, 30);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    trust_expect(trust, 31, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 32, 1.02e-3);
    trust_expect_nothing(trust, 33, true);
    gpu_trust_free(trust);
}

/* The baseline was built last: job 9 came before the first canary. */
static void what_came_before_the_first_canary_is_in_its_window(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    trust_expect(trust, 0, GPU_TRUST_CANARY, 0);
    gpu_trust_measured(trust, 0, 9, 1);
    gpu_trust_canary(trust, 0, 2, 1e-3);
    gpu_trust_measured(trust, 0, 0, 3);
    gpu_trust_measured(trust, 0, 1, 4);
    trust_expect(trust, 5, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 6, 1.02e-3);
    trust_expect_text(
        trust, GPU_TRUST_SAY, 0,
        "its canary moved by +2.0 %; 3 measurements in between are "
        "repeated");
    for (size_t i = 0; i < 3; i++) {
        static const int jobs[] = { 0, 1, 9 };

        step = trust_next(trust, 7);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.job, jobs[i]);
    }
    trust_expect_nothing(trust, 7, false);
    gpu_trust_free(trust);
}

/* A canary that steps up or down by 2 % every fourth time. */
static void
a_measurement_is_repeated_twice_at_most_and_all_have_a_cap(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    int repeats[TRUST_JOBS] = { 0 }, all = 0, said = 0, canaries = 0;
    struct gpu_trust_step step;

    (void)state;
    gpu_trust_gpu(trust, 0, true);
    for (double at_s = 0; at_s < 100; at_s++) {
        if (at_s < 60)
            gpu_trust_measured(trust, 0, (int)at_s % TRUST_JOBS, at_s);
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
    for (int job = 0; job < TRUST_JOBS; job++)
        assert_true(repeats[job] <= 2);
    assert_int_equal(all, 8);
    assert_int_equal(said, 1);
    assert_false(gpu_trust_waits(trust));
    gpu_trust_free(trust);
}

static void repeats_of_a_lost_gpu_go_to_another(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_start(trust, 1, 1e-3);
    trust_batch(trust, 1, 0, 10, 1.02e-3);
    trust_expect(trust, 20, GPU_TRUST_SAY, 1);
    for (int job = 0; job < 3; job++)
        trust_expect(trust, 20, GPU_TRUST_AGAIN, 1);
    gpu_trust_gpu(trust, 1, false);
    for (int job = 0; job < 3; job++)
        gpu_trust_again_ended(trust, 1, job, false);
    for (int job = 0; job < 3; job++) {
        step = trust_next(trust, 20);
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
        assert_int_equal(step.gpu, 0);
        assert_int_equal(step.job, job);
        gpu_trust_again_ended(trust, 0, job, false); /* for good */
    }
    trust_expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

/* Four are in doubt and three are repeated at a time: the canary of the last
 * batch was long in coming. */
static void
no_more_are_repeated_at_a_time_than_lie_between_canaries(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    for (int job = 0; job < 4; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    trust_expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    trust_expect(trust, 20, GPU_TRUST_SAY, 0);
    for (int i = 0; i < 3; i++)
        trust_expect(trust, 20, GPU_TRUST_AGAIN, 0);
    trust_expect_nothing(trust, 20, false);
    assert_false(gpu_trust_waits(trust)); /* no GPU rests */
    gpu_trust_again_ended(trust, 0, 0, true);
    trust_expect(trust, 20, GPU_TRUST_AGAIN, 0);
    gpu_trust_free(trust);
}

/* Likewise on another GPU, when the one where they were measured is gone. */
static void nor_on_another_gpu(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    trust_start(trust, 1, 1e-3);
    for (int job = 0; job < 4; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    trust_expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    trust_expect(trust, 20, GPU_TRUST_SAY, 0);
    gpu_trust_gpu(trust, 0, false);
    for (int i = 0; i < 3; i++)
        trust_expect(trust, 20, GPU_TRUST_AGAIN, 1);
    trust_expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

/* Canaries at 0, 5, 10 and 20; they differ between the last two. */
static void a_window_is_open_at_its_start_and_closed_at_its_end(void **state)
{
    static const double at_s[] = { 10, 10.5, 20 };
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    trust_start(trust, 0, 1e-3);
    gpu_trust_canary(trust, 0, 5, 1e-3);
    gpu_trust_canary(trust, 0, 10, 1e-3);
    for (int job = 0; job < 3; job++)
        gpu_trust_measured(trust, 0, job, at_s[job]);
    trust_expect(trust, 20, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    trust_expect_text(
        trust, GPU_TRUST_SAY, 0,
        "its canary moved by +2.0 %; 2 measurements in between are "
        "repeated");
    for (int job = 1; job < 3; job++)
        assert_int_equal(trust_next(trust, 20).job, job);
    trust_expect_nothing(trust, 20, false);
    gpu_trust_free(trust);
}

static void of_two_results_of_a_time_the_later_told_counts(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();

    (void)state;
    gpu_trust_had_canary(trust, 0, 0, 1e-3);
    gpu_trust_had(trust, 0, 4, 0, 5);
    gpu_trust_had(trust, 0, 4, 2, 5); /* as often as it may be */
    gpu_trust_gpu(trust, 0, true);
    trust_expect(trust, 1000, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 1000, 1.1e-3);
    trust_expect_nothing(trust, 1000, false);
    gpu_trust_free(trust);
}

/* At the end, what is repeated comes before the last canary. */
static void the_last_canary_waits_for_what_is_repeated(void **state)
{
    struct gpu_trust *trust = trust_three_then_one();
    struct gpu_trust_step step;

    (void)state;
    trust_start(trust, 0, 1e-3);
    for (int job = 0; job < 3; job++)
        gpu_trust_measured(trust, 0, job, 10 + job);
    trust_expect(trust, 15, GPU_TRUST_CANARY, 0);
    gpu_trust_canary(trust, 0, 20, 1.02e-3);
    trust_expect(trust, 20, GPU_TRUST_SAY, 0);
    for (int job = 0; job < 3; job++) {
        assert_true(gpu_trust_next(trust, 20, true, &step));
        assert_int_equal(step.act, GPU_TRUST_AGAIN);
    }
    for (int job = 0; job < 3; job++) {
        gpu_trust_measured(trust, 0, -1, 30);
        if (job < 2)
            trust_expect_nothing(trust, 30, true);
        gpu_trust_again_ended(trust, 0, job, true);
    }
    assert_true(gpu_trust_next(trust, 30, true, &step));
    assert_int_equal(step.act, GPU_TRUST_CANARY);
    gpu_trust_free(trust);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_that_moved_is_measured_again),
        cmocka_unit_test(what_came_before_the_first_canary_is_in_its_window),
        cmocka_unit_test(
            a_measurement_is_repeated_twice_at_most_and_all_have_a_cap),
        cmocka_unit_test(repeats_of_a_lost_gpu_go_to_another),
        cmocka_unit_test(
            no_more_are_repeated_at_a_time_than_lie_between_canaries),
        cmocka_unit_test(nor_on_another_gpu),
        cmocka_unit_test(a_window_is_open_at_its_start_and_closed_at_its_end),
        cmocka_unit_test(of_two_results_of_a_time_the_later_told_counts),
        cmocka_unit_test(the_last_canary_waits_for_what_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
