/* What the plan of the machines is told of the work and of the hosts, and what
 * becomes of its answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/rental/rental_plan.h"
#include "tests/coordinator/reactor/rented_rig.h"

static struct rig rig;

/* Takes the place of rental_plan.c. */
static struct {
    int times;
    enum rental_goal goal;
    struct rental_work work;
    struct rental_machine machines[RIG_HOSTS];
    bool answer;
} asked;

void rental_plan(enum rental_goal goal, const struct rental_work *work,
                 const struct rental_machine *machines, size_t n, bool *wanted)
{
    asked.times++;
    asked.goal = goal;
    asked.work = *work;
    memcpy(asked.machines, machines, n * sizeof(*machines));
    for (size_t i = 0; i < n; i++)
        wanted[i] = asked.answer;
}

static int set_up(void **state)
{
    (void)state;
    memset(&asked, 0, sizeof(asked));
    rented_open(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rented_close(&rig);
    return 0;
}

static struct host_state *host(size_t i)
{
    return &rig.sweep.fleet.hosts[i];
}

/* The next plan, at this time. */
static const struct rental_machine *plan_again(void)
{
    rig.sweep.fleet.planned_ns = 0;
    rented_step(&rig);
    return asked.machines;
}

static const struct rental_work *work_now(void)
{
    (void)plan_again();
    return &asked.work;
}

static void settle_builds(int from, int to, bool done)
{
    for (int unit = from; unit < to; unit++)
        sched_settled(rig.sweep.work.sched, JOB_BUILD, unit, 0, done);
}

static void all_that_is_not_settled_is_left(void **state)
{
    (void)state;
    assert_true(work_now()->is_known);
    assert_false(asked.work.is_paced);
    assert_int_equal(asked.work.builds, 30 + 1); /* and the reference */
    assert_int_equal(asked.work.measurements, 30);
    settle_builds(0, 2, true);
    settle_builds(2, 3, false);
    rig_lease(&rig, 1, JOB_BUILD, 3);
    sched_settled(rig.sweep.work.sched, JOB_MEASURE, 29, 0, true);
    assert_int_equal(work_now()->builds, 31 - 3 - 1); /* 29 is not built */
    assert_int_equal(asked.work.measurements, 29);
}

static void builds_that_are_held_back_are_not_counted(void **state)
{
    (void)state;
    sched_hold(rig.sweep.work.sched, 29);
    sched_hold(rig.sweep.work.sched, 0);
    settle_builds(0, 1, true);
    assert_int_equal(work_now()->builds, 31 - 2);
}

static void the_plan_has_the_goal_of_the_command(void **state)
{
    (void)state;
    rig.options.stay.rental.goal = RENTAL_GOAL_CHEAPEST;
    (void)plan_again();
    assert_int_equal(asked.goal, RENTAL_GOAL_CHEAPEST);
}

static void a_lead_paces_the_measurements(void **state)
{
    struct pass lead = { 0 };

    (void)state;
    rig.sweep.passes.lead = &lead;
    assert_true(work_now()->is_paced);
    rig.sweep.passes.lead = NULL;
}

static void without_any_time_there_is_a_guess(void **state)
{
    (void)state;
    assert_false(work_now()->is_built);
    assert_false(asked.work.is_measured);
    assert_true(asked.work.build_s == 5);
    assert_true(asked.work.measurement_s == 0.03);
    rig.sweep.fleet.build_s = rig.sweep.fleet.measurement_s = 0;
    assert_false(work_now()->is_built);
    assert_false(asked.work.is_measured);
}

static void eight_builds_of_this_run_tell_its_pace(void **state)
{
    (void)state;
    rig.sweep.fleet.build_s = 3;
    rig.sweep.work.pace.mean_ns[JOB_BUILD] = 2e9;
    settle_builds(0, 7, true);
    settle_builds(7, 9, false);
    sched_settled(rig.sweep.work.sched, JOB_MEASURE, 0, 0, true);
    assert_true(work_now()->build_s == 3);
    assert_true(asked.work.is_built);
    settle_builds(9, 10, true);
    assert_true(work_now()->build_s == 2);
    rig.sweep.work.pace.mean_ns[JOB_BUILD] =
        0; /* none of them was built here */
    assert_true(work_now()->build_s == 3);
}

static void eight_measurements_of_this_run_tell_its_pace(void **state)
{
    (void)state;
    rig.sweep.fleet.measurement_s = 0.25;
    rig.sweep.work.pace.mean_ns[JOB_MEASURE] = 5e8;
    for (int unit = 0; unit < 7; unit++)
        sched_settled(rig.sweep.work.sched, JOB_MEASURE, unit, 0, true);
    settle_builds(0, 9, true);
    assert_true(work_now()->measurement_s == 0.25);
    assert_true(asked.work.is_measured);
    sched_settled(rig.sweep.work.sched, JOB_MEASURE, 29, 0, true);
    assert_true(work_now()->measurement_s == 0.5);
}

/* The device of these has told no facts yet. */
static void without_a_plan_nothing_is_known(void **state)
{
    (void)state;
    rented_close(&rig);
    rig_open_bare(&rig, 1);
    rig.options.device = "cuda";
    rig.options.stay.rental.machines = rental_new(&rig.hosts, "/");
    rig_begin(&rig);
    asked.work.is_known = true;
    assert_false(work_now()->is_known);
    assert_false(asked.machines[0].is_busy);
    assert_false(asked.machines[0].serves);
}

static void a_machine_has_what_its_line_says(void **state)
{
    (void)state;
    rig.list[0].rental.boot_s = 60;
    rig.list[0].rental.min_bill_s = 600;
    rig.list[0].rental.round_s = 30;
    rig.list[0].slots = 6;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 1.5;
    rig.list[1].rate = 1.5;
    plan_again();
    assert_true(asked.machines[0].is_rented && !asked.machines[1].is_rented);
    assert_true(asked.machines[0].builds && asked.machines[1].builds);
    assert_true(asked.machines[0].measures && !asked.machines[1].measures);
    assert_true(asked.machines[0].boot_s == 60);
    assert_true(asked.machines[0].min_s == 600);
    assert_true(asked.machines[0].round_s == 30);
    assert_true(asked.machines[0].rate == 1.5 && asked.machines[1].rate == 0);
    assert_int_equal(asked.machines[0].slots, 6);
    assert_int_equal(asked.machines[0].gpus, 1);
    assert_int_equal(asked.machines[1].slots, 4); /* nobody has said */
    rig.list[0].role = HOST_GPU;
    assert_false(plan_again()[0].builds);
}

static void a_machine_that_is_there_has_what_its_worker_says(void **state)
{
    (void)state;
    rig.list[0].slots = 6;
    rig_ready(&rig, 0, 2, 3);
    plan_again();
    assert_int_equal(asked.machines[0].slots, 2);
    assert_int_equal(asked.machines[0].gpus, 3);
    assert_false(asked.machines[0].is_busy);
    rig_lease(&rig, 0, JOB_BUILD, 3);
    assert_true(plan_again()[0].is_busy);
    assert_false(asked.machines[1].is_busy);
}

static void a_machine_is_held_from_its_start_to_its_stop(void **state)
{
    (void)state;
    assert_false(plan_again()[0].is_held);
    asked.answer = true;
    (void)plan_again();
    assert_int_equal(rented_state(&rig), RENTAL_STARTING);
    rig.now_ns += 2 * NS_PER_S;
    assert_true(plan_again()[0].is_held);
    assert_true(asked.machines[0].held_s == 2);
    assert_false(asked.machines[1].is_held);
    rented_turn_until(&rig, RENTAL_HELD);
    rig.now_ns += NS_PER_S;
    assert_true(plan_again()[0].is_held);
    assert_true(asked.machines[0].held_s == 3);
    asked.answer = false;
    (void)plan_again();
    assert_int_equal(rented_state(&rig), RENTAL_STOPPING);
    assert_false(plan_again()[0].is_held);
    assert_true(asked.machines[0].held_s == 0);
}

static void a_machine_with_what_is_to_be_measured_serves(void **state)
{
    struct sched *sched = rig.sweep.work.sched;

    (void)state;
    assert_false(plan_again()[0].serves);
    sched_built_at(sched, 0, 1);
    assert_false(plan_again()[0].serves);
    sched_built_at(sched, 1, 0);
    assert_true(plan_again()[0].serves);
    sched_settled(sched, JOB_MEASURE, 1, 0, true);
    assert_false(plan_again()[0].serves);
    sched_built_at(sched, 30, 0);
    assert_true(plan_again()[0].serves); /* the reference is needed by all */
}

/* The plan is for those that come, and counts on them when they have come. */
static void who_does_not_come_after_three_tries_is_not_counted_on(void **state)
{
    (void)state;
    host(1)->conn.tries = 2;
    assert_false(plan_again()[1].is_lost);
    host(0)->conn.tries = host(1)->conn.tries = 3;
    assert_true(plan_again()[1].is_lost);
    assert_false(asked.machines[0].is_lost); /* start= may be run again */
    host(1)->state = HOST_STATE_READY;
    assert_false(plan_again()[1].is_lost);
    host(1)->state = HOST_STATE_FAILED;
    assert_true(plan_again()[1].is_lost);
}

static void who_dials_back_is_waited_for_two_minutes(void **state)
{
    (void)state;
    host(1)->conn.heard_ns = rig.now_ns - 120 * NS_PER_S - 1;
    assert_false(plan_again()[1].is_lost);
    rig.list[1].dial.back = true;
    assert_true(plan_again()[1].is_lost);
    host(1)->conn.heard_ns++;
    assert_false(plan_again()[1].is_lost);
}

static void it_is_planned_four_times_a_second(void **state)
{
    (void)state;
    rented_step(&rig);
    rig.now_ns += NS_PER_S / 4 - 1;
    rented_step(&rig);
    assert_int_equal(asked.times, 1);
    rig.now_ns++;
    rented_step(&rig);
    assert_int_equal(asked.times, 2);
    rented_step(&rig);
    assert_int_equal(asked.times, 2);
    rig.sweep.reactor.ending = "budget";
    rented_step(&rig);
    assert_int_equal(asked.times, 3);
}

static void a_host_that_failed_is_not_acquired(void **state)
{
    (void)state;
    asked.answer = true;
    host(0)->state = HOST_STATE_FAILED;
    (void)plan_again();
    assert_false(host(0)->conn.is_wanted);
    assert_true(host(1)->conn.is_wanted);
    assert_int_equal(rented_state(&rig), RENTAL_LOST);
}

/* What is held may finish what it runs. */
static void
while_it_stops_what_is_held_stays_and_nothing_is_acquired(void **state)
{
    (void)state;
    asked.answer = true;
    rig.sweep.reactor.stopping = 1;
    (void)plan_again();
    assert_int_equal(rented_state(&rig), RENTAL_FREE);
    rig.sweep.reactor.stopping = 0;
    (void)plan_again();
    rented_turn_until(&rig, RENTAL_HELD);
    rig.sweep.reactor.stopping = 1;
    asked.answer = false;
    (void)plan_again();
    assert_int_equal(rented_state(&rig), RENTAL_HELD);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(all_that_is_not_settled_is_left),
        CASE(builds_that_are_held_back_are_not_counted),
        CASE(the_plan_has_the_goal_of_the_command),
        CASE(a_lead_paces_the_measurements),
        CASE(without_any_time_there_is_a_guess),
        CASE(eight_builds_of_this_run_tell_its_pace),
        CASE(eight_measurements_of_this_run_tell_its_pace),
        CASE(without_a_plan_nothing_is_known),
        CASE(a_machine_has_what_its_line_says),
        CASE(a_machine_that_is_there_has_what_its_worker_says),
        CASE(a_machine_is_held_from_its_start_to_its_stop),
        CASE(a_machine_with_what_is_to_be_measured_serves),
        CASE(who_does_not_come_after_three_tries_is_not_counted_on),
        CASE(who_dials_back_is_waited_for_two_minutes),
        CASE(it_is_planned_four_times_a_second),
        CASE(a_host_that_failed_is_not_acquired),
        CASE(while_it_stops_what_is_held_stays_and_nothing_is_acquired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
