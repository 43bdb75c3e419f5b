/* Leases that end without a result, and those that are given again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "coordinator/reactor/results.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct rig_sent sent; /* a measurement of unit 0 on host a, lease 3 */

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 3); /* and two builds */
    sent = *rig_last(&rig, MSG_MEASURE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct host_state *host(size_t i)
{
    return &rig.sweep.fleet.hosts[i];
}

static void a_crash_is_tried_again_and_settles_at_last(void **state)
{
    (void)state;
    assert_int_equal(rig_measured(&rig, &sent, "crash", 0), 0);
    assert_int_equal(rig.sweep.work.count.settled, 0);
    assert_int_equal(rig_rows(&rig, "result WHERE counted = 0"), 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(sent.attempt, 2);
    assert_int_equal(rig_measured(&rig, &sent, "crash", 0), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'crash' AND "
                                    "attempts = 3 AND reason = 'why'"),
                     1);
    assert_int_equal(rig.sweep.work.count.settled, 1);
}

static void a_build_that_crashes_is_tried_again(void **state)
{
    struct rig_sent build = *rig_last(&rig, MSG_BUILD);

    (void)state;
    assert_int_equal(rig_built(&rig, &build, "crash"), 0);
    assert_int_equal(
        rig_rows(&rig, "build WHERE outcome = 'crash' AND counted = 0"), 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    assert_string_equal(rig_last(&rig, MSG_BUILD)->config, build.config);
    assert_int_equal(rig_last(&rig, MSG_BUILD)->attempt, 2);
}

static void what_runs_out_is_cancelled_and_lost(void **state)
{
    struct host_state *a = host(0);

    (void)state;
    results_expired(&rig.sweep, *sched_lease_get(rig.sweep.work.sched, 3));
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 3);
    assert_int_equal(
        rig_rows(&rig, "event WHERE name = 'LEASE-EXPIRED' AND text = 'a'"), 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE id = 3 AND ending = 'lost'"),
                     1);
    assert_int_equal(a->conduct.expired, 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    results_expired(&rig.sweep, *sched_lease_get(rig.sweep.work.sched, 6));
    assert_false(a->conduct.condemned);
    assert_int_equal(
        rig_rows(&rig, "outcome WHERE outcome = 'lost' AND reason = 'no answer "
                       "30 s after its limit of 40 s'"),
        1);
    results_expired(&rig.sweep, *sched_lease_on(rig.sweep.work.sched, 0));
    assert_true(a->conduct.condemned);
    assert_int_equal(a->conn.code, ERR_NETWORK);
    assert_string_equal(a->conn.why,
                        "it left three leases in a row without an answer");
}

static void a_host_that_is_lost_loses_its_work_and_its_builds(void **state)
{
    (void)state;
    results_host_lost(&rig.sweep, 0, "silent");
    assert_int_equal(
        rig_rows(&rig, "event WHERE name = 'HOST-LOST' AND text = 'a'"), 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 3);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
}

/* Nobody waits for what it had asked for. */
static void what_a_lost_host_wanted_is_not_fetched(void **state)
{
    char hash[HASH_HEX];
    const struct msg want = { .type = MSG_WANT,
                              .want = { .what = "artifact", .hash = hash } };

    (void)state;
    rig_ready(&rig, 1, 1, 1);
    rig_lease(&rig, 1, JOB_MEASURE, 5);
    snprintf(hash, sizeof(hash), "%s", rig.sweep.work.artifacts[0]);
    assert_int_equal(rig_take(&rig, 1, want), 0);
    assert_int_equal(rig.sweep.work.n_fetches, 1);
    results_host_lost(&rig.sweep, 1, "silent");
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

/* Host a is late with the only measurement left, 'sent', and b repeats it. */
static struct rig_sent repeat_on_another_host(void)
{
    rig_close(&rig);
    rig_open(&rig, 2);
    for (int unit = 1; unit < plan_units(rig.sweep.work.plan); unit++)
        sched_settled(rig.sweep.work.sched, JOB_MEASURE, unit, 0, true);
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 1);
    sent = *rig_last(&rig, MSG_MEASURE);
    sched_lease_late(rig.sweep.work.sched, sent.lease);
    rig_ready(&rig, 1, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    assert_int_equal(rig_last(&rig, MSG_MEASURE)->host, 1);
    assert_int_equal(rig_last(&rig, MSG_MEASURE)->attempt, 2);
    return *rig_last(&rig, MSG_MEASURE);
}

static void the_first_lease_is_cancelled(void)
{
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->host, 0);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, sent.lease);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'cancelled'"), 1);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 0);
}

static void the_first_result_cancels_the_other_lease(void **state)
{
    struct rig_sent again = repeat_on_another_host();

    (void)state;
    assert_int_equal(rig_measured(&rig, &again, "correct", 1e-3), 0);
    the_first_lease_is_cancelled();
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'done'"), 3);
}

/* Two tries. */
static void the_last_crash_cancels_the_other_lease(void **state)
{
    struct rig_sent again = repeat_on_another_host();

    (void)state;
    assert_int_equal(rig_measured(&rig, &again, "crash", 0), 0);
    assert_int_equal(rig.sweep.work.count.settled, 0);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    again = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(again.attempt, 3);
    assert_int_equal(rig_measured(&rig, &again, "crash", 0), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'crash'"), 1);
    the_first_lease_is_cancelled();
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
    assert_int_equal(rig_dispatch(&rig), 0);
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 1);
}

/* When a pass is told, nothing of the host is under way. */
static int told_of;

static void note_lost(struct sweep *sweep, struct pass *pass, size_t lost)
{
    assert_ptr_equal(pass->state, &rig);
    assert_null(sched_lease_on(sweep->work.sched, (int)lost));
    told_of = (int)lost;
}

static void passes_are_told_of_a_lost_host(void **state)
{
    static const struct pass_ops ops = { .host_down = note_lost };
    static const struct pass_ops *const passes[] = { &ops, NULL };

    (void)state;
    told_of = -1;
    pass_init(&rig.sweep.passes, passes);
    rig.sweep.passes.list[0].state = &rig;
    results_host_lost(&rig.sweep, 0, "silent");
    assert_int_equal(told_of, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_crash_is_tried_again_and_settles_at_last),
        CASE(a_build_that_crashes_is_tried_again),
        CASE(what_runs_out_is_cancelled_and_lost),
        CASE(a_host_that_is_lost_loses_its_work_and_its_builds),
        CASE(what_a_lost_host_wanted_is_not_fetched),
        CASE(passes_are_told_of_a_lost_host),
        CASE(the_first_result_cancels_the_other_lease),
        CASE(the_last_crash_cancels_the_other_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
