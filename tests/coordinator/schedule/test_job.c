#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/schedule/job.h"

static void a_lost_job_waits_again_while_tries_are_left(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 1 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_WAITING);
    assert_int_equal(job.tries_left, 0);
    assert_true(job_apply(&job, JOB_EV_LEASE));
    assert_true(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.losses, 2);
}

static void a_late_result_settles_what_only_losses_failed(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 0 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_FAILED);
    assert_true(job_apply(&job, JOB_EV_RESULT));
    assert_int_equal(job.state, JOB_DONE);
}

static void what_only_losses_failed_may_fail_for_good(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 0 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_LOST));
    assert_false(job_apply(&job, JOB_EV_LOST));
    assert_false(job_apply(&job, JOB_EV_LEASE));
    assert_false(job_apply(&job, JOB_EV_REFUSED));
    assert_true(job_apply(&job, JOB_EV_REJECT));
    assert_int_equal(job.state, JOB_FAILED);
    assert_false(job_apply(&job, JOB_EV_RESULT));
    assert_false(job_apply(&job, JOB_EV_REJECT));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.losses, 1);
}

static void a_rejected_job_stays_rejected(void **state)
{
    struct job job = { .state = JOB_LEASED };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_REJECT));
    assert_false(job_apply(&job, JOB_EV_RESULT));
    assert_false(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_FAILED);
}

static void a_late_result_settles_a_waiting_job_once(void **state)
{
    struct job job = { .state = JOB_WAITING, .tries_left = 1 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_RESULT));
    assert_false(job_apply(&job, JOB_EV_RESULT));
    assert_false(job_apply(&job, JOB_EV_LEASE));
    assert_int_equal(job.state, JOB_DONE);
}

static void a_blocked_job_cannot_be_leased(void **state)
{
    struct job job = { .stage = JOB_MEASURE, .state = JOB_BLOCKED };

    (void)state;
    assert_false(job_apply(&job, JOB_EV_LEASE));
    assert_true(job_apply(&job, JOB_EV_ADOPT));
    assert_int_equal(job.state, JOB_LEASED);
}

static void a_refusal_uses_no_try(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 2 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_REFUSED));
    assert_int_equal(job.state, JOB_WAITING);
    assert_int_equal(job.tries_left, 2);
}

static void one_of_two_leases_is_lost_and_uses_up_a_try(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 1 };

    (void)state;
    assert_true(job_may_repeat(&job));
    assert_true(job_apply(&job, JOB_EV_REPEAT));
    assert_false(job_may_repeat(&job));
    assert_false(job_apply(&job, JOB_EV_REPEAT));
    assert_false(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_LEASED);
    assert_int_equal(job.tries_left, 0);
    assert_int_equal(job.losses, 1);
    assert_true(job_apply(&job, JOB_EV_REPEAT));
    assert_false(job_apply(&job, JOB_EV_REFUSED));
    assert_int_equal(job.tries_left, 0);
}

/* The other one may still finish it; another repetition would have no end. */
static void a_lease_that_outlives_the_last_try_is_not_repeated(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 0 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_REPEAT));
    assert_false(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_LEASED);
    assert_false(job_may_repeat(&job));
    assert_true(job_apply(&job, JOB_EV_LOST));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.losses, 2);
}

static void the_last_try_that_crashes_settles_a_job_of_two_leases(void **state)
{
    struct job job = { .state = JOB_LEASED, .tries_left = 1 };

    (void)state;
    assert_true(job_apply(&job, JOB_EV_REPEAT));
    assert_false(job_apply(&job, JOB_EV_CRASHED));
    assert_int_equal(job.state, JOB_LEASED);
    assert_true(job_apply(&job, JOB_EV_REPEAT));
    assert_true(job_apply(&job, JOB_EV_CRASHED));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.losses, 2);
    assert_true(job_apply(&job, JOB_EV_RESULT)); /* of the other lease */
    assert_int_equal(job.state, JOB_DONE);
}

static void only_what_is_leased_is_repeated(void **state)
{
    struct job waiting = { .state = JOB_WAITING, .tries_left = 2 };
    struct job done = { .state = JOB_LEASED, .tries_left = 2 };

    (void)state;
    assert_false(job_apply(&waiting, JOB_EV_REPEAT));
    assert_true(job_apply(&done, JOB_EV_REPEAT));
    assert_true(job_apply(&done, JOB_EV_RESULT));
    assert_int_equal(done.state, JOB_DONE);
    assert_false(job_may_repeat(&done));
}

static void a_vanished_artifact_is_built_again(void **state)
{
    struct job build = { .stage = JOB_BUILD, .state = JOB_DONE };
    struct job queued = { .stage = JOB_BUILD, .state = JOB_WAITING };
    struct job leased = { .stage = JOB_BUILD, .state = JOB_LEASED };
    struct job waiting = { .stage = JOB_MEASURE, .state = JOB_WAITING };
    struct job done = { .stage = JOB_MEASURE, .state = JOB_DONE };

    (void)state;
    assert_true(job_apply(&build, JOB_EV_VANISHED));
    assert_int_equal(build.state, JOB_WAITING);
    assert_true(job_apply(&waiting, JOB_EV_VANISHED));
    assert_int_equal(waiting.state, JOB_BLOCKED);
    assert_false(job_apply(&done, JOB_EV_VANISHED));
    assert_int_equal(done.state, JOB_DONE);
    assert_false(job_apply(&queued, JOB_EV_VANISHED));
    assert_int_equal(queued.state, JOB_WAITING);
    assert_false(job_apply(&leased, JOB_EV_VANISHED));
    assert_int_equal(leased.state, JOB_LEASED);
}

static void a_job_is_settled_when_it_is_done_or_failed(void **state)
{
    (void)state;
    assert_true(job_is_settled(&(struct job){ .state = JOB_DONE }));
    assert_true(job_is_settled(&(struct job){ .state = JOB_FAILED }));
    assert_false(job_is_settled(&(struct job){ .state = JOB_BLOCKED }));
    assert_false(job_is_settled(&(struct job){ .state = JOB_WAITING }));
    assert_false(job_is_settled(&(struct job){ .state = JOB_LEASED }));
}

static void what_is_no_build_is_a_measurement(void **state)
{
    (void)state;
    assert_string_equal(job_stage_name(JOB_BUILD), "build");
    assert_string_equal(job_stage_name(JOB_MEASURE), "measure");
    assert_int_equal(job_stage_of("build"), JOB_BUILD);
    assert_int_equal(job_stage_of("measure"), JOB_MEASURE);
    assert_int_equal(job_stage_of("tool"), JOB_MEASURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_job_waits_again_while_tries_are_left),
        cmocka_unit_test(a_late_result_settles_what_only_losses_failed),
        cmocka_unit_test(what_only_losses_failed_may_fail_for_good),
        cmocka_unit_test(a_rejected_job_stays_rejected),
        cmocka_unit_test(a_job_is_settled_when_it_is_done_or_failed),
        cmocka_unit_test(a_late_result_settles_a_waiting_job_once),
        cmocka_unit_test(a_blocked_job_cannot_be_leased),
        cmocka_unit_test(a_refusal_uses_no_try),
        cmocka_unit_test(one_of_two_leases_is_lost_and_uses_up_a_try),
        cmocka_unit_test(a_lease_that_outlives_the_last_try_is_not_repeated),
        cmocka_unit_test(the_last_try_that_crashes_settles_a_job_of_two_leases),
        cmocka_unit_test(only_what_is_leased_is_repeated),
        cmocka_unit_test(a_vanished_artifact_is_built_again),
        cmocka_unit_test(what_is_no_build_is_a_measurement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
