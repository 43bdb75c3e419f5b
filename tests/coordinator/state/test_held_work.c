#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/state/held_work.h"
#include "coordinator/state/reactor.h"

static struct sweep sweep;
static struct host_state host;
static struct issued_lease issued[1];
static struct pass_wait wait; /* what the pass says; no 'what': nothing */

static void tell_wait(const struct sweep *of, const struct pass *pass,
                      pass_wait_fn *tell, void *arg)
{
    (void)of;
    (void)pass;
    if (wait.what)
        tell(arg, &wait);
}

static bool is_not_over(const struct sweep *of, const struct pass *pass)
{
    (void)of;
    (void)pass;
    return false;
}

static const struct pass_ops ops = { .name = "test",
                                     .waits_for = tell_wait,
                                     .is_over = is_not_over };

/* At 100 s, after a turn that began then: one unit and the reference. */
static int setup(void **state)
{
    (void)state;
    memset(&sweep, 0, sizeof(sweep));
    memset(&host, 0, sizeof(host));
    memset(&wait, 0, sizeof(wait));
    sweep.reactor.turn_ns = sweep.reactor.last.leases_ns = 100 * NS_PER_S;
    sweep.fleet.hosts = &host;
    sweep.fleet.n = 1;
    sweep.work.issued = issued;
    sweep.work.sched = sched_new((struct sched_limits){
        .units = 1, .shapes = 1, .hosts = 1, .attempts = 2 });
    sweep.passes.n = 1;
    sweep.passes.list[0] = (struct pass){ .ops = &ops, .state = &sweep };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sched_free(sweep.work.sched);
    return 0;
}

static void keep_loose(void *arg, const struct held_work *work)
{
    if (!work->is_held)
        held_work_text(work, arg, 160);
}

static void assert_loose(int n, const char *last)
{
    char text[160] = "";

    assert_int_equal(held_work_list(&sweep, keep_loose, text), n);
    assert_string_equal(text, last);
}

static void settle_all(void)
{
    sched_settled(sweep.work.sched, JOB_MEASURE, 0, 0, true);
}

static void what_is_queued_is_held(void **state)
{
    (void)state;
    assert_loose(0, "");
}

static void a_lease_holds_until_its_deadline(void **state)
{
    struct sched_lease lease;

    (void)state;
    sched_host_up(sweep.work.sched, 0, 1, 0, 1);
    assert_true(sched_next(sweep.work.sched, &lease));
    /* 40 s, 30 s of it grace: until 101 s, then 99 s */
    issued[0] = (struct issued_lease){ .granted_ns = 61 * NS_PER_S,
                                       .limit_ns = 10 * NS_PER_S };
    assert_loose(0, "");
    issued[0].granted_ns = 60 * NS_PER_S; /* until now */
    assert_loose(0, "");
    issued[0].granted_ns--;
    assert_loose(1, "build, unit 1, shape 0, order 0: leased");
}

static void what_is_held_back_needs_a_pass_that_waits(void **state)
{
    (void)state;
    sched_hold(sweep.work.sched, 0);
    assert_loose(
        1, "build, unit 0, shape 0, order 0: held back until a pass wants it");
    wait = (struct pass_wait){ .what = "an answer",
                               .end = PASS_WAIT_TIME,
                               .until_ns = 101 * NS_PER_S };
    assert_loose(0, "");
}

static void a_wait_ends_soon_and_not_in_the_past(void **state)
{
    (void)state;
    wait = (struct pass_wait){ .what = "a rest",
                               .end = PASS_WAIT_TIME,
                               .until_ns = 100 * NS_PER_S };
    assert_loose(0, ""); /* this turn can still act on it */
    wait.until_ns--;
    assert_loose(1,
                 "test pass, a rest, order 0, unit 0: until its time has come");
    wait.until_ns = 220 * NS_PER_S; /* as long as a program may take */
    assert_loose(0, "");
    wait.until_ns++;
    assert_loose(1,
                 "test pass, a rest, order 0, unit 0: until its time has come");
    wait.until_ns = 3700 * NS_PER_S; /* an hour: some clock was set back */
    assert_loose(1,
                 "test pass, a rest, order 0, unit 0: until its time has come");
}

static void a_wait_for_an_order_ends_with_it(void **state)
{
    int64_t id;

    (void)state;
    settle_all();
    sched_host_up(sweep.work.sched, 0, 1, 1, 1);
    id = sched_order(sweep.work.sched,
                     &(struct sched_order){ .purpose = SCHED_CANARY });
    wait = (struct pass_wait){ .what = "a canary",
                               .end = PASS_WAIT_ORDER,
                               .order = id };
    assert_loose(0, "");
    assert_true(sched_order_cancel(sweep.work.sched, id));
    assert_loose(
        1, "test pass, a canary, order 1, unit 0: until the order is over");
}

static void a_wait_for_a_unit_ends_with_it(void **state)
{
    (void)state;
    wait = (struct pass_wait){ .what = "a result", .end = PASS_WAIT_UNIT };
    assert_loose(0, "");
    settle_all();
    assert_loose(
        1, "test pass, a result, order 0, unit 0: until the unit is settled");
}

static void a_pass_that_leads_and_waits_for_nothing_is_found(void **state)
{
    (void)state;
    settle_all();
    sweep.passes.lead = &sweep.passes.list[0];
    assert_loose(1, "test pass, its end, with nothing left to do, order 0, "
                    "unit 0: until nothing in particular");
    wait = (struct pass_wait){ .what = "a GPU", .end = PASS_WAIT_HOST };
    assert_loose(0, "");
}

static void keep_until(void *arg, const struct held_work *work)
{
    *(int64_t *)arg = work->until_ns;
}

static int64_t held_until(enum pass_wait_end end)
{
    int64_t until_ns = -1;

    wait = (struct pass_wait){ .what = "it",
                               .end = end,
                               .until_ns = 110 * NS_PER_S };
    held_work_list(&sweep, keep_until, &until_ns);
    return until_ns;
}

/* A host's is that of the sweep, which stops without one. */
static void what_is_waited_for_ends_at_its_time_or_the_hosts(void **state)
{
    (void)state;
    settle_all();
    sweep.fleet.usable_ns = 90 * NS_PER_S;
    assert_int_equal(held_until(PASS_WAIT_TIME), 110 * NS_PER_S);
    assert_int_equal(held_until(PASS_WAIT_HOST), 210 * NS_PER_S);
    assert_int_equal(held_until(PASS_WAIT_UNIT), 0);
}

/* What an earlier sweep left behind the last of the list. */
static void only_passes_of_this_sweep_are_asked(void **state)
{
    (void)state;
    sweep.passes.list[1] = sweep.passes.list[0];
    settle_all();
    wait = (struct pass_wait){ .what = "a result", .end = PASS_WAIT_UNIT };
    assert_loose(
        1, "test pass, a result, order 0, unit 0: until the unit is settled");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_is_queued_is_held),
        CASE(a_lease_holds_until_its_deadline),
        CASE(what_is_held_back_needs_a_pass_that_waits),
        CASE(a_wait_ends_soon_and_not_in_the_past),
        CASE(a_wait_for_an_order_ends_with_it),
        CASE(a_wait_for_a_unit_ends_with_it),
        CASE(what_is_waited_for_ends_at_its_time_or_the_hosts),
        CASE(only_passes_of_this_sweep_are_asked),
        CASE(a_pass_that_leads_and_waits_for_nothing_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
