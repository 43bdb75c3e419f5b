#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/schedule/sched.h"

enum {
    REFERENCE_OF_2 = 2
};

static struct sched *two_units(int hosts)
{
    return sched_new((struct sched_limits){
        .units = 2, .shapes = 1, .hosts = hosts, .attempts = 3 });
}

static struct sched_lease take(struct sched *sched, enum job_stage stage,
                               int unit, int host)
{
    struct sched_lease lease;

    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, stage);
    assert_int_equal(lease.unit, unit);
    assert_int_equal(lease.host, host);
    return lease;
}

static void built(struct sched *sched, int unit, int host)
{
    assert_true(sched_apply(sched, JOB_BUILD, unit, 0, JOB_EV_RESULT, host));
}

static bool lose(struct sched *sched, enum job_stage stage, int unit, int shape)
{
    const struct sched_lease *lease = sched_lease_of(sched, stage, unit, shape);

    return lease && sched_lease_apply(sched, lease->id, JOB_EV_LOST);
}

static void one_host_builds_the_reference_first_then_in_order(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 2, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0); /* one in waiting beyond the two slots */
    assert_false(sched_next(sched, &lease));
    built(sched, 0, 0);
    assert_false(sched_next(sched, &lease)); /* no reference yet */
    built(sched, REFERENCE_OF_2, 0);
    take(sched, JOB_MEASURE, 0, 0);
    built(sched, 1, 0);
    assert_false(sched_next(sched, &lease)); /* the GPU is taken */
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    take(sched, JOB_MEASURE, 1, 0);
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_int_equal(sched_leases(sched), 0);
    sched_free(sched);
}

static void a_failed_build_settles_its_measurements(void **state)
{
    struct sched *sched = two_units(1);

    (void)state;
    sched_host_up(sched, 0, 4, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    assert_true(sched_apply(sched, JOB_BUILD, 0, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 1, 0)->state, JOB_BLOCKED);
    sched_free(sched);
}

static void without_a_reference_nothing_is_left_to_do(void **state)
{
    struct sched *sched = two_units(1);

    (void)state;
    sched_host_up(sched, 0, 0, 1, 1);
    assert_true(
        sched_apply(sched, JOB_BUILD, REFERENCE_OF_2, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void a_lost_measurement_goes_to_another_gpu(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease first, second;

    (void)state;
    sched_host_up(sched, 0, 3, 2, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    first = take(sched, JOB_MEASURE, 0, 0);
    assert_true(lose(sched, JOB_MEASURE, 0, 0));
    do
        assert_true(sched_next(sched, &second));
    while (second.stage != JOB_MEASURE);
    assert_int_equal(second.unit, 0);
    assert_int_not_equal(second.gpu, first.gpu);
    assert_int_equal(second.attempt, 2);
    assert_int_not_equal(second.id, first.id);
    sched_free(sched);
}

static void three_losses_fail_it_and_a_late_result_settles_it(void **state)
{
    struct sched *sched = two_units(1);

    (void)state;
    sched_host_up(sched, 0, 3, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    for (int i = 0; i < 3; i++) {
        take(sched, JOB_MEASURE, 0, 0);
        assert_true(lose(sched, JOB_MEASURE, 0, 0));
    }
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_DONE);
    sched_free(sched);
}

static void a_late_result_ends_the_lease_given_to_another(void **state)
{
    struct sched *sched = two_units(2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    lease = take(sched, JOB_MEASURE, 0, 0);
    assert_ptr_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0),
                     sched_lease_get(sched, lease.id));
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_null(sched_lease_get(sched, lease.id));
    assert_false(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    sched_free(sched);
}

static void an_idle_gpu_takes_work_that_piles_up_elsewhere(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 3, .shapes = 1, .hosts = 2, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 8, 0, 0); /* a builder */
    for (int i = 0; i < 4; i++)
        assert_true(sched_next(sched, &lease));
    built(sched, 3, 0);
    for (int unit = 0; unit < 3; unit++)
        built(sched, unit, 0);
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 1, 0, 1, 2);
    lease = take(sched, JOB_MEASURE, 0, 1);
    assert_int_equal(sched_home(sched, lease.unit), 0);
    sched_free(sched);
}

static void artifacts_of_a_dead_host_are_built_again(void **state)
{
    struct sched *sched = two_units(2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 0, 0);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    while (sched_lease_on(sched, 0)) {
        lease = *sched_lease_on(sched, 0);
        sched_lease_apply(sched, lease.id, JOB_EV_LOST);
    }
    sched_host_down(sched, 0);
    sched_host_up(sched, 1, 8, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 1);
    built(sched, REFERENCE_OF_2, 1);
    take(sched, JOB_BUILD, 0, 1);
    built(sched, 0, 1);
    take(sched, JOB_MEASURE, 0, 1);
    sched_free(sched);
}

static void a_paused_host_gets_nothing_new(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 1, 1, 1);
    sched_host_pause(sched, 0, true);
    assert_false(sched_next(sched, &lease));
    sched_host_pause(sched, 0, false);
    assert_true(sched_next(sched, &lease));
    sched_free(sched);
}

static void jobs_settled_by_an_earlier_run_are_not_repeated(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_built_at(sched, REFERENCE_OF_2, 0);
    sched_built_at(sched, 1, 0);
    sched_host_up(sched, 0, 4, 1, 1);
    take(sched, JOB_MEASURE, 1, 0);
    assert_false(sched_next(sched, &lease));
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void a_finished_sweep_has_no_open_job(void **state)
{
    struct sched *sched = two_units(1);

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_settled(sched, JOB_MEASURE, 1, 0, false);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void adopted_work_is_not_handed_out_again(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_built_at(sched, REFERENCE_OF_2, 0);
    sched_built_at(sched, 0, 0);
    sched_built_at(sched, 1, 0);
    sched_host_up(sched, 0, 1, 1, 2);
    assert_true(sched_adopt(sched, JOB_MEASURE, 0, 0, 0, 0, &lease));
    assert_false(sched_adopt(sched, JOB_MEASURE, 0, 0, 0, 0, &lease));
    take(sched, JOB_MEASURE, 1, 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

/* It may have lost its GPU since it was given the measurement. */
static void a_host_without_a_gpu_may_have_a_measurement(void **state)
{
    struct sched *sched = two_units(1);
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
    sched_settled(sched, JOB_BUILD, REFERENCE_OF_2, 0, true);
    sched_host_up(sched, 0, 2, 0, 1);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0);
    assert_false(sched_next(sched, &lease));
    built(sched, 0, 0);
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
    take(sched, JOB_BUILD, 3, 0); /* the reference */
    assert_false(sched_next(sched, &lease));
    sched_release(sched, 2);
    sched_release(sched, 0);
    take(sched, JOB_BUILD, 2, 0); /* in the order of release */
    take(sched, JOB_BUILD, 0, 0);
    assert_false(sched_next(sched, &lease));
    assert_int_equal(sched_open_jobs(sched), 7);
    sched_free(sched);
}

static void a_unit_released_twice_is_built_once(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 1);
    sched_release(sched, 1); /* before anything was handed out */
    sched_release(sched, 1);
    sched_release(sched, 0); /* never held */
    sched_host_up(sched, 0, 4, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_dropped_unit_is_settled_and_never_done(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 1);
    sched_drop(sched, 0); /* not held: it stays */
    sched_host_up(sched, 0, 4, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    take(sched, JOB_MEASURE, 0, 0);
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
    struct sched *sched = two_units(1);

    (void)state;
    sched_hold(sched, 0);
    sched_drop(sched, 0);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 1, 0)->state, JOB_BLOCKED);
    sched_free(sched);
}

/* What was measured on a GPU that is gone frees no other. */
static void a_host_may_come_back_with_fewer_gpus(void **state)
{
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 2, 1);
    for (int i = 0; i < 3; i++)
        assert_true(sched_next(sched, &lease));
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    built(sched, 1, 0);
    for (int gpu = 0; gpu < 2; gpu++) {
        assert_true(sched_next(sched, &lease));
        assert_int_equal(lease.gpu, gpu);
    }
    sched_host_up(sched, 0, 3, 1, 1);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_REFUSED));
    assert_false(sched_next(sched, &lease)); /* the other is at work */
    sched_host_up(sched, 0, 3, 2, 1);
    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.gpu, 1);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void dropping_all_needs_no_reference(void **state)
{
    struct sched *sched = two_units(1);

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
    struct sched *sched = two_units(1);
    struct sched_lease lease;

    (void)state;
    sched_hold(sched, 0);
    sched_hold(sched, 1);
    sched_built_at(sched, REFERENCE_OF_2, 0);
    sched_built_at(sched, 0, 0);
    sched_host_up(sched, 0, 4, 1, 1);
    assert_false(sched_next(sched, &lease));
    sched_release(sched, 0);
    take(sched, JOB_BUILD, 0, 0);
    sched_free(sched);
}

/* Two hosts: 0 has built both units and the reference, 1 has a GPU alone. */
static struct sched *a_builder_and_a_gpu(void)
{
    struct sched *sched = two_units(2);

    sched_host_up(sched, 0, 3, 0, 0);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    built(sched, 1, 0);
    sched_host_up(sched, 1, 0, 1, 1);
    return sched;
}

static void
refused_for_a_vanished_artifact_it_waits_for_the_next_build(void **state)
{
    struct sched *sched = a_builder_and_a_gpu();
    struct sched_lease lease = take(sched, JOB_MEASURE, 0, 1);

    (void)state;
    sched_vanished(sched, 0);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_REFUSED));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_BLOCKED);
    take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_MEASURE, 1, 1);
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 1));
    built(sched, 0, 0);
    take(sched, JOB_MEASURE, 0, 1);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void lost_with_the_reference_it_waits_for_both(void **state)
{
    struct sched *sched = a_builder_and_a_gpu();
    struct sched_lease lease = take(sched, JOB_MEASURE, 0, 1);

    (void)state;
    sched_vanished(sched, REFERENCE_OF_2);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_BLOCKED);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    assert_false(sched_next(sched, &lease));
    built(sched, REFERENCE_OF_2, 0);
    take(sched, JOB_MEASURE, 0, 1);
    sched_free(sched);
}

/* Hosts 0 and 1 have a GPU each; 0 holds the only measurement left. */
static struct sched *one_left_on_host_0(struct sched_lease *lease)
{
    struct sched *sched = two_units(2);

    sched_settled(sched, JOB_MEASURE, 1, 0, true);
    sched_host_up(sched, 0, 3, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    *lease = take(sched, JOB_MEASURE, 0, 0);
    sched_host_up(sched, 1, 3, 1, 1);
    return sched;
}

static void a_late_lease_is_repeated_once_by_an_idle_gpu(void **state)
{
    struct sched_lease first, repeat, none;
    struct sched *sched = one_left_on_host_0(&first);

    (void)state;
    assert_false(sched_next(sched, &none)); /* it is not late */
    sched_lease_late(sched, first.id);
    repeat = take(sched, JOB_MEASURE, 0, 1);
    assert_int_equal(repeat.repeat, first.id);
    assert_int_equal(repeat.attempt, 2);
    assert_false(sched_next(sched, &none));
    assert_int_equal(sched_lease_held(sched, JOB_MEASURE, 0, 0, 1)->id,
                     repeat.id);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 1));
    assert_int_equal(sched_leases(sched), 0);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void the_repetition_carries_on_when_the_first_lease_is_lost(void **state)
{
    struct sched_lease first, repeat, none;
    struct sched *sched = one_left_on_host_0(&first);

    (void)state;
    sched_lease_late(sched, first.id);
    repeat = take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_lease_apply(sched, first.id, JOB_EV_LOST));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_LEASED);
    assert_int_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0)->id, repeat.id);
    assert_false(sched_next(sched, &none));
    assert_true(sched_lease_apply(sched, repeat.id, JOB_EV_LOST));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_WAITING);
    sched_free(sched);
}

/* The host of the first lease says nothing; the other one crashes each time. */
static void a_crash_is_repeated_as_often_as_there_are_tries(void **state)
{
    struct sched_lease first, repeat, none;
    struct sched *sched = one_left_on_host_0(&first);

    (void)state;
    sched_lease_late(sched, first.id);
    for (int attempt = 2; attempt < 4; attempt++) {
        repeat = take(sched, JOB_MEASURE, 0, 1);
        assert_int_equal(repeat.attempt, attempt);
        assert_false(sched_lease_apply(sched, repeat.id, JOB_EV_CRASHED));
        assert_int_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0)->id,
                         first.id);
    }
    repeat = take(sched, JOB_MEASURE, 0, 1);
    assert_true(sched_lease_apply(sched, repeat.id, JOB_EV_CRASHED));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_leases(sched), 0);
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_false(sched_next(sched, &none));
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_DONE);
    sched_free(sched);
}

static void
the_first_lease_carries_on_when_the_repetition_is_refused(void **state)
{
    struct sched_lease first, repeat;
    struct sched *sched = one_left_on_host_0(&first);

    (void)state;
    sched_lease_late(sched, first.id);
    repeat = take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_lease_apply(sched, repeat.id, JOB_EV_REFUSED));
    assert_int_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0)->id, first.id);
    take(sched, JOB_MEASURE, 0, 1); /* it may be repeated again */
    sched_free(sched);
}

static void
what_its_hosts_only_gpu_failed_to_finish_goes_to_another(void **state)
{
    struct sched *sched = two_units(2);
    struct sched_lease lease, none;

    (void)state;
    sched_settled(sched, JOB_MEASURE, 1, 0, true);
    sched_host_up(sched, 0, 3, 1, 1);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    take(sched, JOB_BUILD, 0, 0);
    built(sched, REFERENCE_OF_2, 0);
    built(sched, 0, 0);
    lease = take(sched, JOB_MEASURE, 0, 0);
    sched_host_up(sched, 1, 0, 1, 1);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_next(sched, &none));
    sched_free(sched);
}

static void an_idle_builder_repeats_a_late_build(void **state)
{
    struct sched *sched = two_units(2);
    struct sched_lease lease, none;

    (void)state;
    sched_host_up(sched, 0, 3, 0, 0);
    take(sched, JOB_BUILD, REFERENCE_OF_2, 0);
    lease = take(sched, JOB_BUILD, 0, 0);
    take(sched, JOB_BUILD, 1, 0);
    sched_host_up(sched, 1, 1, 0, 0);
    assert_false(sched_next(sched, &none));
    sched_lease_late(sched, lease.id);
    take(sched, JOB_BUILD, 0, 1);
    built(sched, 0, 1);
    assert_int_equal(sched_home(sched, 0), 1);
    assert_int_equal(sched_leases(sched), 2);
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_without_a_gpu_may_have_a_measurement),
        cmocka_unit_test(without_shapes_there_are_builds_alone),
        cmocka_unit_test(one_host_builds_the_reference_first_then_in_order),
        cmocka_unit_test(a_failed_build_settles_its_measurements),
        cmocka_unit_test(without_a_reference_nothing_is_left_to_do),
        cmocka_unit_test(a_lost_measurement_goes_to_another_gpu),
        cmocka_unit_test(three_losses_fail_it_and_a_late_result_settles_it),
        cmocka_unit_test(a_late_result_ends_the_lease_given_to_another),
        cmocka_unit_test(an_idle_gpu_takes_work_that_piles_up_elsewhere),
        cmocka_unit_test(artifacts_of_a_dead_host_are_built_again),
        cmocka_unit_test(a_paused_host_gets_nothing_new),
        cmocka_unit_test(jobs_settled_by_an_earlier_run_are_not_repeated),
        cmocka_unit_test(a_finished_sweep_has_no_open_job),
        cmocka_unit_test(adopted_work_is_not_handed_out_again),
        cmocka_unit_test(a_held_unit_waits_for_its_release),
        cmocka_unit_test(a_unit_released_twice_is_built_once),
        cmocka_unit_test(a_dropped_unit_is_settled_and_never_done),
        cmocka_unit_test(a_dropped_unit_leaves_the_next_one_alone),
        cmocka_unit_test(a_host_may_come_back_with_fewer_gpus),
        cmocka_unit_test(dropping_all_needs_no_reference),
        cmocka_unit_test(a_host_that_built_a_held_unit_waits_with_it),
        cmocka_unit_test(
            refused_for_a_vanished_artifact_it_waits_for_the_next_build),
        cmocka_unit_test(lost_with_the_reference_it_waits_for_both),
        cmocka_unit_test(a_late_lease_is_repeated_once_by_an_idle_gpu),
        cmocka_unit_test(a_crash_is_repeated_as_often_as_there_are_tries),
        cmocka_unit_test(
            the_repetition_carries_on_when_the_first_lease_is_lost),
        cmocka_unit_test(
            the_first_lease_carries_on_when_the_repetition_is_refused),
        cmocka_unit_test(
            what_its_hosts_only_gpu_failed_to_finish_goes_to_another),
        cmocka_unit_test(an_idle_builder_repeats_a_late_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
