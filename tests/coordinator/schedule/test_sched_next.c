#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/coordinator/schedule/sched_fixture.h"

static void one_host_builds_the_reference_first_then_in_order(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 2, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0); /* one in waiting beyond the two slots */
    assert_false(sched_next(sched, &lease));
    pair_built(sched, 0, 0);
    assert_false(sched_next(sched, &lease)); /* no reference yet */
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_MEASURE, 0, 0);
    pair_built(sched, 1, 0);
    assert_false(sched_next(sched, &lease)); /* the GPU is taken */
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    pair_take(sched, JOB_MEASURE, 1, 0);
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_REJECT, 0));
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_int_equal(sched_leases(sched), 0);
    sched_free(sched);
}

static void a_lost_measurement_goes_to_another_gpu(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease first, second;

    (void)state;
    sched_host_up(sched, 0, 3, 2, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    first = pair_take(sched, JOB_MEASURE, 0, 0);
    assert_true(pair_lose(sched, JOB_MEASURE, 0, 0));
    do
        assert_true(sched_next(sched, &second));
    while (second.stage != JOB_MEASURE);
    assert_int_equal(second.unit, 0);
    assert_int_not_equal(second.gpu, first.gpu);
    assert_int_equal(second.attempt, 2);
    assert_int_not_equal(second.id, first.id);
    sched_free(sched);
}

/* A GPU has measured each configuration before the next one is built. */
static void two_gpus_share_what_comes_one_by_one(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 6, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 7, 2, 3);
    for (int i = 0; i < 7; i++)
        assert_true(sched_next(sched, &lease));
    pair_built(sched, 6, 0);
    for (int unit = 0; unit < 6; unit++) {
        pair_built(sched, unit, 0);
        lease = pair_take(sched, JOB_MEASURE, unit, 0);
        assert_int_equal(lease.gpu, unit % 2);
        assert_true(sched_apply(sched, JOB_MEASURE, unit, 0, JOB_EV_RESULT, 0));
    }
    sched_free(sched);
}

static void the_gpu_with_fewer_leases_is_first(void **state)
{
    static const int gpus[] = { 0, 1, 2, 0, 1, 2 };
    struct sched *sched = sched_new((struct sched_limits){
        .units = 7, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_built_at(sched, 7, 0);
    for (int unit = 0; unit < 7; unit++)
        sched_built_at(sched, unit, 0);
    sched_host_up(sched, 0, 0, 3, 2);
    for (int i = 0; i < 6; i++) {
        lease = pair_take(sched, JOB_MEASURE, i, 0);
        assert_int_equal(lease.gpu, gpus[i]);
    }
    assert_true(sched_apply(sched, JOB_MEASURE, 2, 0, JOB_EV_RESULT, 0));
    lease = pair_take(sched, JOB_MEASURE, 6, 0);
    assert_int_equal(lease.gpu, 2);
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
    pair_built(sched, 3, 0);
    for (int unit = 0; unit < 3; unit++)
        pair_built(sched, unit, 0);
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 1, 0, 1, 2);
    lease = pair_take(sched, JOB_MEASURE, 0, 1);
    assert_int_equal(sched_home(sched, lease.unit), 0);
    sched_free(sched);
}

/* A builder that has built 'units' and the reference. */
static struct sched *built_by_a_builder(int units, int hosts)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = units, .shapes = 1, .hosts = hosts, .attempts = 3 });
    struct sched_lease lease;

    sched_host_up(sched, 0, 8, 0, 0);
    for (int i = 0; i <= units; i++)
        assert_true(sched_next(sched, &lease));
    for (int unit = units; unit >= 0; unit--)
        pair_built(sched, unit, 0);
    return sched;
}

static void a_gpu_has_its_credit_of_what_a_builder_built(void **state)
{
    struct sched *sched = built_by_a_builder(5, 2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 1, 0, 1, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(sched_next(sched, &lease));
        assert_int_equal(lease.stage, JOB_MEASURE);
        assert_int_equal(lease.host, 1);
    }
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

/* Host 2 has its turn before host 3. */
static void busy_gpus_leave_the_last_to_an_idle_one(void **state)
{
    struct sched *sched = built_by_a_builder(3, 4);
    struct sched_lease lease;

    (void)state;
    for (int host = 2; host > 0; host--) {
        sched_host_up(sched, host, 0, 1, 3);
        sched_host_pause(sched, host % 2 + 1, true);
        assert_true(sched_next(sched, &lease));
        assert_int_equal(lease.host, host);
        sched_host_pause(sched, host % 2 + 1, false);
    }
    sched_host_up(sched, 3, 0, 1, 3);
    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.host, 3);
    sched_free(sched);
}

/* Their GPUs will take it. */
static void a_busy_gpu_leaves_what_hosts_with_gpus_built(void **state)
{
    struct sched *sched = built_by_a_builder(6, 2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 8, 1, 1);
    sched_host_up(sched, 1, 0, 1, 3);
    for (int i = 0; i < 2; i++)
        assert_true(sched_next(sched, &lease));
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void the_only_one_that_waits_at_a_builder_is_taken_ahead(void **state)
{
    struct sched *sched = built_by_a_builder(2, 2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 1, 0, 1, 3);
    for (int i = 0; i < 2; i++) {
        assert_true(sched_next(sched, &lease));
        assert_int_equal(lease.stage, JOB_MEASURE);
    }
    sched_free(sched);
}

static void nothing_is_taken_ahead_from_a_silent_builder(void **state)
{
    struct sched *sched = built_by_a_builder(4, 2);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 1, 0, 1, 3);
    assert_true(sched_next(sched, &lease));
    sched_host_pause(sched, 0, true);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

/* Two slots, and one build in waiting. */
static void a_host_has_one_build_more_than_it_has_slots(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 4, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 2, 0, 0);
    for (int i = 0; i < 3; i++)
        assert_true(sched_next(sched, &lease));
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_host_without_slots_builds_nothing(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease, first;

    (void)state;
    sched_host_up(sched, 0, 0, 1, 1);
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 1, 3, 0, 0);
    first = pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 1);
    pair_take(sched, JOB_BUILD, 0, 1);
    pair_take(sched, JOB_BUILD, 1, 1);
    sched_lease_late(sched, first.id);
    assert_false(sched_next(sched, &lease)); /* nor does it repeat one */
    sched_free(sched);
}

/* Hosts 0 and 1 have built three each and have no GPU. */
static void of_two_that_have_as_much_to_spare_the_first_gives(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 6, .shapes = 1, .hosts = 3, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_built_at(sched, 6, 0);
    for (int unit = 0; unit < 6; unit++)
        sched_built_at(sched, unit, 1 - unit % 2);
    sched_host_up(sched, 0, 1, 0, 0);
    sched_host_up(sched, 1, 1, 0, 0);
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 2, 0, 1, 1);
    lease = pair_take(sched, JOB_MEASURE, 1, 2);
    assert_int_equal(sched_home(sched, lease.unit), 0);
    sched_free(sched);
}

static void a_paused_host_gets_nothing_new(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 1, 1, 1);
    sched_host_pause(sched, 0, true);
    assert_false(sched_next(sched, &lease));
    sched_host_pause(sched, 0, false);
    assert_true(sched_next(sched, &lease));
    sched_free(sched);
}

/* What was measured on a GPU that is gone frees no other. */
static void a_host_may_come_back_with_fewer_gpus(void **state)
{
    struct sched *sched = pair_new(1);
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 3, 2, 1);
    for (int i = 0; i < 3; i++)
        assert_true(sched_next(sched, &lease));
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    pair_built(sched, 1, 0);
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

/* Hosts 0 and 1 have a GPU each; 0 holds the only measurement left. */
static struct sched *one_left_on_host_0(struct sched_lease *lease)
{
    struct sched *sched = pair_new(2);

    sched_settled(sched, JOB_MEASURE, 1, 0, true);
    sched_host_up(sched, 0, 3, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    *lease = pair_take(sched, JOB_MEASURE, 0, 0);
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
    repeat = pair_take(sched, JOB_MEASURE, 0, 1);
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
    repeat = pair_take(sched, JOB_MEASURE, 0, 1);
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
        repeat = pair_take(sched, JOB_MEASURE, 0, 1);
        assert_int_equal(repeat.attempt, attempt);
        assert_false(sched_lease_apply(sched, repeat.id, JOB_EV_CRASHED));
        assert_int_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0)->id,
                         first.id);
    }
    repeat = pair_take(sched, JOB_MEASURE, 0, 1);
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
    repeat = pair_take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_lease_apply(sched, repeat.id, JOB_EV_REFUSED));
    assert_int_equal(sched_lease_of(sched, JOB_MEASURE, 0, 0)->id, first.id);
    pair_take(sched, JOB_MEASURE, 0, 1); /* it may be repeated again */
    sched_free(sched);
}

static void
what_its_hosts_only_gpu_failed_to_finish_goes_to_another(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease, none;

    (void)state;
    sched_settled(sched, JOB_MEASURE, 1, 0, true);
    sched_host_up(sched, 0, 3, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    pair_built(sched, 0, 0);
    lease = pair_take(sched, JOB_MEASURE, 0, 0);
    sched_host_up(sched, 1, 0, 1, 1);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    pair_take(sched, JOB_MEASURE, 0, 1);
    assert_false(sched_next(sched, &none));
    sched_free(sched);
}

/* It failed on the GPU that its host has lost since.  The other GPU of the host
 * is at work, and takes it next. */
static void what_failed_on_a_gpu_that_is_gone_stays_with_its_host(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease, none;

    (void)state;
    for (int unit = 0; unit <= PAIR_REFERENCE; unit++)
        sched_built_at(sched, unit, 0);
    sched_host_up(sched, 0, 1, 2, 1);
    pair_take(sched, JOB_MEASURE, 0, 0);
    lease = pair_take(sched, JOB_MEASURE, 1, 0);
    assert_int_equal(lease.gpu, 1);
    sched_host_up(sched, 0, 1, 1, 1);
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    sched_host_up(sched, 1, 1, 1, 1);
    assert_false(sched_next(sched, &none));
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    pair_take(sched, JOB_MEASURE, 1, 0);
    sched_free(sched);
}

static void an_idle_builder_repeats_a_late_build(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease, none;

    (void)state;
    sched_host_up(sched, 0, 3, 0, 0);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    lease = pair_take(sched, JOB_BUILD, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 0);
    sched_host_up(sched, 1, 1, 0, 0);
    assert_false(sched_next(sched, &none));
    sched_lease_late(sched, lease.id);
    pair_take(sched, JOB_BUILD, 0, 1);
    pair_built(sched, 0, 1);
    assert_int_equal(sched_home(sched, 0), 1);
    assert_int_equal(sched_leases(sched), 2);
    sched_free(sched);
}

/* Its only slot is taken, and no build waits. */
static void a_busy_builder_repeats_nothing(void **state)
{
    struct sched *sched = pair_new(2);
    struct sched_lease lease, none;

    (void)state;
    sched_host_up(sched, 0, 1, 0, 0);
    lease = pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    pair_take(sched, JOB_BUILD, 0, 0);
    sched_host_up(sched, 1, 1, 0, 0);
    pair_take(sched, JOB_BUILD, 1, 1);
    sched_lease_late(sched, lease.id);
    assert_false(sched_next(sched, &none));
    pair_built(sched, 1, 1);
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 1);
    sched_free(sched);
}

static void a_free_slot_is_idle_while_builds_wait(void **state)
{
    struct sched *sched = pair_new(1);

    (void)state;
    assert_false(sched_is_idle(sched)); /* there is no host */
    sched_host_up(sched, 0, 1, 0, 0);
    assert_true(sched_is_idle(sched));
    pair_take(sched, JOB_BUILD, PAIR_REFERENCE, 0);
    assert_false(sched_is_idle(sched));
    pair_take(sched, JOB_BUILD, 0, 0);
    pair_built(sched, PAIR_REFERENCE, 0);
    assert_false(sched_is_idle(sched)); /* it has one ahead */
    pair_built(sched, 0, 0);
    assert_true(sched_is_idle(sched));
    sched_host_pause(sched, 0, true);
    assert_false(sched_is_idle(sched));
    sched_free(sched);
}

static void a_free_slot_may_wait_while_gpus_have_enough_ahead(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 9, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 4, 1, 2);
    pair_take(sched, JOB_BUILD, 9, 0);
    for (int unit = 0; unit < 4; unit++)
        pair_take(sched, JOB_BUILD, unit, 0);
    pair_built(sched, 9, 0);
    for (int unit = 0; unit < 3; unit++)
        pair_built(sched, unit, 0);
    pair_take(sched, JOB_MEASURE, 0, 0);
    pair_take(sched, JOB_MEASURE, 1, 0);
    assert_true(sched_is_idle(sched)); /* one waits, and it may take two */
    pair_built(sched, 3, 0);
    assert_false(sched_is_idle(sched));
    sched_gpu_rest(sched, 0, 0, true);
    assert_true(sched_is_idle(sched)); /* no GPU takes them */
    sched_gpu_rest(sched, 0, 0, false);
    assert_true(sched_next(sched, &lease)); /* it would be given at once */
    assert_int_equal(lease.stage, JOB_BUILD);
    sched_free(sched);
}

static void a_gpu_with_one_lease_is_idle_while_others_wait(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 4, .shapes = 1, .hosts = 1, .attempts = 3 });
    struct sched_lease lease;

    (void)state;
    sched_host_up(sched, 0, 5, 1, 3);
    for (int i = 0; i < 5; i++)
        assert_true(sched_next(sched, &lease));
    assert_false(sched_is_idle(sched));
    pair_built(sched, 4, 0);
    for (int unit = 0; unit < 4; unit++)
        pair_built(sched, unit, 0);
    assert_true(sched_is_idle(sched));
    pair_take(sched, JOB_MEASURE, 0, 0);
    assert_true(sched_is_idle(sched));
    pair_take(sched, JOB_MEASURE, 1, 0);
    assert_false(sched_is_idle(sched));
    pair_take(sched, JOB_MEASURE, 2, 0);
    assert_true(sched_apply(sched, JOB_MEASURE, 0, 0, JOB_EV_RESULT, 0));
    assert_false(sched_is_idle(sched));
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 0));
    assert_true(sched_is_idle(sched));
    sched_gpu_rest(sched, 0, 0, true);
    assert_false(sched_is_idle(sched));
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_host_builds_the_reference_first_then_in_order),
        cmocka_unit_test(a_lost_measurement_goes_to_another_gpu),
        cmocka_unit_test(a_gpu_has_its_credit_of_what_a_builder_built),
        cmocka_unit_test(busy_gpus_leave_the_last_to_an_idle_one),
        cmocka_unit_test(a_busy_gpu_leaves_what_hosts_with_gpus_built),
        cmocka_unit_test(the_only_one_that_waits_at_a_builder_is_taken_ahead),
        cmocka_unit_test(nothing_is_taken_ahead_from_a_silent_builder),
        cmocka_unit_test(two_gpus_share_what_comes_one_by_one),
        cmocka_unit_test(the_gpu_with_fewer_leases_is_first),
        cmocka_unit_test(an_idle_gpu_takes_work_that_piles_up_elsewhere),
        cmocka_unit_test(a_host_has_one_build_more_than_it_has_slots),
        cmocka_unit_test(a_host_without_slots_builds_nothing),
        cmocka_unit_test(of_two_that_have_as_much_to_spare_the_first_gives),
        cmocka_unit_test(a_paused_host_gets_nothing_new),
        cmocka_unit_test(a_host_may_come_back_with_fewer_gpus),
        cmocka_unit_test(a_late_lease_is_repeated_once_by_an_idle_gpu),
        cmocka_unit_test(
            the_repetition_carries_on_when_the_first_lease_is_lost),
        cmocka_unit_test(a_crash_is_repeated_as_often_as_there_are_tries),
        cmocka_unit_test(
            the_first_lease_carries_on_when_the_repetition_is_refused),
        cmocka_unit_test(
            what_its_hosts_only_gpu_failed_to_finish_goes_to_another),
        cmocka_unit_test(what_failed_on_a_gpu_that_is_gone_stays_with_its_host),
        cmocka_unit_test(a_busy_builder_repeats_nothing),
        cmocka_unit_test(an_idle_builder_repeats_a_late_build),
        cmocka_unit_test(a_free_slot_is_idle_while_builds_wait),
        cmocka_unit_test(a_free_slot_may_wait_while_gpus_have_enough_ahead),
        cmocka_unit_test(a_gpu_with_one_lease_is_idle_while_others_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
