#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/coordinator/schedule/sched_fixture.h"

static void a_failed_build_settles_its_measurements(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_host_up(sched, 0, 4, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    assert_true(sched_apply(sched, JOB_BUILD, 0, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 1, 0)->state, JOB_BLOCKED);
    sched_free(sched);
}

static void without_a_reference_nothing_is_left_to_do(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_host_up(sched, 0, 0, 1, 1);
    assert_true(
        sched_apply(sched, JOB_BUILD, PAIR_REFERENCE, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void three_losses_fail_it_and_a_late_result_settles_it(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_host_up(sched, 0, 3, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    for (int i = 0; i < 3; i++) {
        pair_take(sched, JOB_MEASURE, 0, 0);
        assert_true(pair_lose(sched, JOB_MEASURE, 0, 0));
    }
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_DONE);
    sched_free(sched);
}

static void a_late_result_ends_the_lease_given_to_another(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    lease = pair_take(sched, JOB_MEASURE, 0, 0);
    assert_ptr_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0),
                     sched_lease_get(sched, lease.id));
    assert_int_equal(sched_lease_at(sched, 0)->id, lease.id);
    assert_null(sched_lease_at(sched, 1));
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_null(sched_lease_get(sched, lease.id));
    assert_null(sched_lease_at(sched, 0));
    assert_false(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    sched_free(sched);
}

static void artifacts_of_a_dead_host_are_built_again(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 0, 0);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    while (sched_lease_on(sched, 0)) {
        lease = *sched_lease_on(sched, 0);
        sched_lease_apply(sched, lease.id, JOB_EV_LOST);
    }
    sched_host_down(sched, 0);
    sched_host_up(sched, 1, 8, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 1);
    pair_built(sched, PAIR_REFERENCE, 1);
    pair_take(sched, JOB_BUILD, 0, 1);
    pair_built(sched, 0, 1);
    pair_take(sched, JOB_MEASURE, 0, 1);
    sched_free(sched);
}

static void jobs_settled_by_an_earlier_run_are_not_repeated(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_built_at(sched, PAIR_REFERENCE, 0);
    sched_built_at(sched, 1, 0);
    sched_host_up(sched, 0, 4, 1, 1);
    pair_take(sched, JOB_MEASURE, 1, 0);
    assert_false(sched_next(sched, &lease));
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void a_finished_sweep_has_no_open_job(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_settled(sched, JOB_MEASURE, 1, 0, false);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void adopted_work_is_not_handed_out_again(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_built_at(sched, PAIR_REFERENCE, 0);
    sched_built_at(sched, 0, 0);
    sched_built_at(sched, 1, 0);
    sched_host_up(sched, 0, 1, 1, 2);
    assert_true(sched_adopt(sched, JOB_MEASURE, 0, 0, 0, 0, &lease));
    assert_int_equal(lease.gpu, 0);
    assert_false(sched_adopt(sched, JOB_MEASURE, 0, 0, 0, 0, &lease));
    pair_take(sched, JOB_MEASURE, 1, 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void an_adopted_build_is_on_no_gpu(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 1, 1, 1);
    assert_true(sched_adopt(sched, JOB_BUILD, 0, 0, 0, 0, &lease));
    assert_int_equal(lease.gpu, -1);
    sched_free(sched);
}

/* It may have lost its GPU since it was given the measurement. */
static void a_host_without_a_gpu_may_have_a_measurement(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 1, 0, 1);
    assert_true(sched_adopt(sched, JOB_MEASURE, 0, 0, 0, 0, &lease));
    assert_int_equal(sched_leases(sched), 1);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_REFUSED));
    assert_int_equal(sched_leases(sched), 0);
    sched_free(sched);
}

static void without_shapes_there_are_builds_alone(void **state)
{
    struct sched *sched = sched_new(
        (struct sched_limits){ .units = 2, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_settled(sched, JOB_BUILD, PAIR_REFERENCE, 0, true);
    sched_host_up(sched, 0, 2, 0, 1);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0);
    assert_false(sched_next(sched, &lease));
    pair_built(sched, 0, 0);
    assert_int_equal(sched_open_jobs(sched), 1);
    assert_true(sched_apply(sched, JOB_BUILD, 1, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_host_down(sched, 0);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void a_held_unit_waits_for_its_release(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 3, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    for (int unit = 0; unit < 3; unit++)
        sched_hold(sched, unit);
    sched_host_up(sched, 0, 4, 1, 1);
    pair_take(sched, JOB_BUILD, 3, 0); /* the reference */
    assert_false(sched_next(sched, &lease));
    sched_release(sched, 2);
    sched_release(sched, 0);
    pair_take(sched, JOB_BUILD, 2, 0); /* in the order of release */
    pair_take(sched, JOB_BUILD, 0, 0);
    assert_false(sched_next(sched, &lease));
    assert_int_equal(sched_open_jobs(sched), 7);
    sched_free(sched);
}

static void a_unit_released_twice_is_built_once(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 1);
    sched_release(sched, 1); /* before anything was handed out */
    sched_release(sched, 1);
    sched_release(sched, 0); /* never held */
    sched_host_up(sched, 0, 4, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_dropped_unit_is_settled_and_never_done(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 1);
    sched_drop(sched, 0); /* not held: it stays */
    sched_host_up(sched, 0, 4, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    pair_take(sched, JOB_MEASURE, 0, 0);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_open_jobs(sched), 2);
    sched_drop(sched, 1);
    sched_drop(sched, 1);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_release(sched, 1);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_dropped_unit_leaves_the_next_one_alone(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_hold(sched, 0);
    sched_drop(sched, 0);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 1, 0)->state, JOB_BLOCKED);
    sched_free(sched);
}

static void dropping_all_needs_no_reference(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    sched_hold(sched, 0);
    sched_hold(sched, 1);
    sched_drop(sched, 0);
    sched_drop(sched, 1);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void a_host_that_built_a_held_unit_waits_with_it(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 0);
    sched_hold(sched, 1);
    sched_built_at(sched, PAIR_REFERENCE, 0);
    sched_built_at(sched, 0, 0);
    sched_host_up(sched, 0, 4, 1, 1);
    assert_false(sched_next(sched, &lease));
    sched_release(sched, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    sched_free(sched);
}

/* Two hosts: 0 has built both units and the reference, 1 has a GPU alone. */
static struct sched *a_builder_and_a_gpu(void)
{
    struct sched *sched = pair_new(2);

    sched_host_up(sched, 0, 3, 0, 0);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    pair_built(sched, 1, 0);
    sched_host_up(sched, 1, 0, 1, 1);
    return sched;
}

static void
refused_for_a_vanished_artifact_it_waits_for_the_next_build(void **state)
{
    struct sched *sched = a_builder_and_a_gpu();
    struct sched_lease lease = pair_take(sched, JOB_MEASURE, 0, 1);

    (void)state;
    sched_vanished(sched, 0);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_REFUSED));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_BLOCKED);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_MEASURE, 1, 1);
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 1));
    pair_built(sched, 0, 0);
    pair_take(sched, JOB_MEASURE, 0, 1);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

/* It was measured before its artifact vanished. */
static void what_no_measurement_needs_is_not_built_again(void **state)
{
    struct sched *sched = a_builder_and_a_gpu();

    (void)state;
    pair_take(sched, JOB_MEASURE, 0, 1);
    sched_vanished(sched, 0);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_int_equal(sched_open_jobs(sched), 1);
    assert_int_equal(sched_job(sched, JOB_BUILD, 0, 0)->state, JOB_DONE);
    pair_take(sched, JOB_MEASURE, 1, 1);
    sched_free(sched);
}

static void lost_with_the_reference_it_waits_for_both(void **state)
{
    struct sched *sched = a_builder_and_a_gpu();
    struct sched_lease lease = pair_take(sched, JOB_MEASURE, 0, 1);

    (void)state;
    sched_vanished(sched, PAIR_REFERENCE);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_BLOCKED);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    assert_false(sched_next(sched, &lease));
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_MEASURE, 0, 1);
    sched_free(sched);
}

static void what_was_moved_waits_where_it_is_now(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease;

    (void)state;
    sched_moved(sched, 0, 1);
    assert_int_equal(sched_home(sched, 0), -1); /* it is not built */
    for (int unit = 0; unit <= PAIR_REFERENCE; unit++)
        sched_built_at(sched, unit, 0);
    sched_moved(sched, 1, 1);
    sched_moved(sched, PAIR_REFERENCE, 1);
    assert_int_equal(sched_home(sched, 0), 0);
    assert_int_equal(sched_home(sched, 1), 1);
    sched_host_up(sched, 1, 0, 1, 1);
    pair_take(sched, JOB_MEASURE, 1, 1); /* before what lies elsewhere */
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 1));
    sched_moved(sched, 1, 1); /* it was measured */
    pair_take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

/* Of four that it may have, two last until more comes; of two, one does. */
static void a_gpu_with_half_of_its_credit_is_not_idle(void **state)
{
    (void)state;
    for (int half = 1; half <= 2; half++) {
        struct sched *sched = sched_new((struct sched_limits){
            .units = 4, .shapes = 1, .hosts = 1, .attempts = 3 });
        struct sched_lease lease;

        for (int unit = 0; unit <= 4; unit++)
            sched_built_at(sched, unit, 0);
        sched_host_up(sched, 0, 0, 1, 2 * half);
        for (int i = 0; i < half; i++) {
            assert_true(sched_is_idle(sched));
            assert_true(sched_next(sched, &lease));
        }
        assert_false(sched_is_idle(sched));
        sched_free(sched);
    }
}

static void what_waits_at_a_gpu_covers_a_round_trip(void **state)
{
    (void)state;
    assert_int_equal(sched_credit(0, 32), 4); /* not known */
    assert_int_equal(sched_credit(1e9, 32), 4);
    assert_int_equal(sched_credit(50e6, 32), 4); /* three that wait: 150 ms */
    assert_int_equal(sched_credit(49e6, 32), 5);
    assert_int_equal(sched_credit(15e6, 32), 11);
    assert_int_equal(sched_credit(5e6, 32), 31);
    assert_int_equal(sched_credit(1e6, 32), 32); /* the worker takes no more */
    assert_int_equal(sched_credit(1e6, 3), 3);
    assert_int_equal(sched_credit(0, 1), 1);
}

/* What is scarce stays where any GPU can take it. */
static void beyond_four_a_gpu_gets_what_is_plenty(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 12, .shapes = 1, .hosts = 2, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    for (int unit = 0; unit <= 12; unit++)
        sched_built_at(sched, unit, 0);
    sched_host_up(sched, 0, 0, 1, 32);
    for (int unit = 0; unit < 9; unit++) /* and 3 are left */
        pair_take(sched, JOB_MEASURE, unit, 0);
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 1, 0, 1, 32);
    pair_take(sched, JOB_MEASURE, 9, 1);
    sched_free(sched);
}

static void a_gpu_is_given_more_when_its_credit_grows(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    for (int unit = 0; unit < 2; unit++)
        sched_built_at(sched, unit, 0);
    sched_built_at(sched, PAIR_REFERENCE, 0);
    sched_host_up(sched, 0, 0, 1, 1);
    pair_take(sched, JOB_MEASURE, 0, 0);
    assert_false(sched_next(sched, &lease));
    sched_host_credit(sched, 0, 2);
    pair_take(sched, JOB_MEASURE, 1, 0);
    sched_host_credit(sched, 0, 1); /* it keeps what it has */
    assert_int_equal(sched_leases(sched), 2);
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_build_settles_its_measurements),
        cmocka_unit_test(without_a_reference_nothing_is_left_to_do),
        cmocka_unit_test(three_losses_fail_it_and_a_late_result_settles_it),
        cmocka_unit_test(a_late_result_ends_the_lease_given_to_another),
        cmocka_unit_test(artifacts_of_a_dead_host_are_built_again),
        cmocka_unit_test(jobs_settled_by_an_earlier_run_are_not_repeated),
        cmocka_unit_test(a_finished_sweep_has_no_open_job),
        cmocka_unit_test(adopted_work_is_not_handed_out_again),
        cmocka_unit_test(an_adopted_build_is_on_no_gpu),
        cmocka_unit_test(a_host_without_a_gpu_may_have_a_measurement),
        cmocka_unit_test(without_shapes_there_are_builds_alone),
        cmocka_unit_test(a_held_unit_waits_for_its_release),
        cmocka_unit_test(a_unit_released_twice_is_built_once),
        cmocka_unit_test(a_dropped_unit_is_settled_and_never_done),
        cmocka_unit_test(a_dropped_unit_leaves_the_next_one_alone),
        cmocka_unit_test(dropping_all_needs_no_reference),
        cmocka_unit_test(a_host_that_built_a_held_unit_waits_with_it),
        cmocka_unit_test(
            refused_for_a_vanished_artifact_it_waits_for_the_next_build),
        cmocka_unit_test(what_no_measurement_needs_is_not_built_again),
        cmocka_unit_test(lost_with_the_reference_it_waits_for_both),
        cmocka_unit_test(what_was_moved_waits_where_it_is_now),
        cmocka_unit_test(a_gpu_with_half_of_its_credit_is_not_idle),
        cmocka_unit_test(what_waits_at_a_gpu_covers_a_round_trip),
        cmocka_unit_test(beyond_four_a_gpu_gets_what_is_plenty),
        cmocka_unit_test(a_gpu_is_given_more_when_its_credit_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
