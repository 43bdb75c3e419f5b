#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/state/host_supply.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define LONG_NS (120 * NS_PER_S) /* without a host that can go on */

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
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

/* Both were never reached, for so many tries. */
static void fail_both(int tries)
{
    for (size_t i = 0; i < 2; i++) {
        host(i)->conn.tries = tries;
        snprintf(host(i)->conn.why, sizeof(host(i)->conn.why), "no route");
    }
}

static void expect_end(int64_t at_ns, int code, const char *ending,
                       const char *text)
{
    host_supply_check(&rig.sweep, at_ns);
    assert_non_null(rig.sweep.reactor.ending);
    assert_string_equal(rig.sweep.reactor.fatal.text, text);
    assert_string_equal(rig.sweep.reactor.ending, ending);
    assert_int_equal(rig.sweep.reactor.exit_code, code);
}

static void expect_none(int64_t at_ns)
{
    host_supply_check(&rig.sweep, at_ns);
    assert_null(rig.sweep.reactor.ending);
}

/* Connections that are open at one end only: their uploads are given up. */
static void two_uploads_that_stand_still_leave_time_for_a_third(void **state)
{
    const int64_t login_ns = 10 * NS_PER_S;

    (void)state;
    expect_none(RIG_START_NS + 2 * (login_ns + DEPLOY_IDLE_S * NS_PER_S));
}

static void three_tries_each_and_there_is_no_hope(void **state)
{
    (void)state;
    fail_both(3);
    host(0)->conn.tries = 2;
    expect_none(RIG_START_NS);
    fail_both(3);
    expect_end(RIG_START_NS, 3, "error",
               "no usable host; the last to fail, b: no route");
}

static void a_relay_that_is_up_is_hope(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->conn.attached = true;
    expect_none(RIG_START_NS);
}

static void who_was_ready_may_come_back_for_two_minutes(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->was_ready = true;
    expect_none(RIG_START_NS + LONG_NS);
    expect_end(RIG_START_NS + LONG_NS + 1, 3, "error",
               "no host is left; the last to fail, b: no route");
}

static void with_something_settled_the_end_is_partial(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->was_ready = true;
    rig.sweep.work.count.settled = 1;
    expect_end(RIG_START_NS + LONG_NS + 1, 5, "partial",
               "no host is left; the last to fail, b: no route");
}

static void a_key_that_is_not_taken_is_exit_4(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->conn.code = ERR_AUTH;
    expect_end(RIG_START_NS, 4, "error",
               "no usable host; the last to fail, b: no route");
}

static void a_host_key_that_is_not_accepted_is_exit_4(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->conn.code = ERR_HOST_KEY;
    expect_end(RIG_START_NS, 4, "error",
               "no usable host; the last to fail, b: no route");
}

static void a_single_host_is_named_with_its_reason(void **state)
{
    (void)state;
    rig_close(&rig);
    rig_open(&rig, 1);
    host(0)->conn.tries = 3;
    snprintf(host(0)->conn.why, sizeof(host(0)->conn.why), "refused");
    expect_end(RIG_START_NS, 3, "error", "no usable host: a: refused");
}

static void who_says_nothing_at_all_does_not_answer(void **state)
{
    (void)state;
    expect_none(RIG_START_NS + LONG_NS);
    expect_end(
        RIG_START_NS + LONG_NS + 1, 3, "error",
        "no usable host: no host answers; 'fa-coord doctor' asks each why");
}

static void a_host_of_another_sweep_is_waited_for_without_end(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->conn.waits = true;
    expect_none(RIG_START_NS + LONG_NS);
    expect_none(RIG_START_NS + 100 * LONG_NS);
    host(1)->conn.waits = false; /* it broke */
    host(1)->was_ready = true;
    expect_none(RIG_START_NS + 101 * LONG_NS);
    expect_end(RIG_START_NS + 101 * LONG_NS + 1, 3, "error",
               "no host is left; the last to fail, b: no route");
}

static void tell_nothing(void *arg, bool reference, const char *why)
{
    (void)arg;
    (void)reference;
    (void)why;
}

static void a_check_does_not_wait_for_another_sweep(void **state)
{
    (void)state;
    fail_both(3);
    rig.options.builds_only = true;
    rig.options.unbuilt.tell = tell_nothing;
    host(1)->conn.waits = true;
    expect_end(RIG_START_NS, 3, "error",
               "no usable host; the last to fail, b: no route");
}

/* A builder that waits is of no use without a GPU, and a GPU that waits not
 * without one that builds. */
static void a_host_is_waited_for_only_for_what_it_can_do(void **state)
{
    (void)state;
    fail_both(3);
    host(1)->conn.waits = true;
    rig.list[1].role = HOST_BUILDER;
    expect_end(RIG_START_NS, 3, "error",
               "no usable host; the last to fail, b: no route");
    rig.sweep.reactor.ending = NULL;
    rig.list[1].role = HOST_GPU;
    rig_ready(&rig, 0, 0, 1);
    rig.list[0].role = HOST_GPU;
    expect_end(RIG_START_NS, 3, "error",
               "no host is left that can build; those that are ready have "
               "role=gpu in the hosts file: give one role=both; the last to "
               "fail, b: no route");
    rig.sweep.reactor.ending = NULL;
    rig.list[1].role = HOST_BOTH;
    expect_none(RIG_START_NS + 100 * LONG_NS);
}

static void a_host_that_measures_and_builds_is_enough(void **state)
{
    (void)state;
    fail_both(3);
    rig_ready(&rig, 0, 1, 1);
    expect_none(RIG_START_NS + LONG_NS + 1);
    assert_int_equal(rig.sweep.fleet.usable_ns, RIG_START_NS + LONG_NS + 1);
}

static void without_a_gpu_nothing_is_measured(void **state)
{
    (void)state;
    fail_both(3);
    rig_ready(&rig, 0, 1, 0);
    expect_end(RIG_START_NS, 3, "error",
               "no host is left that can measure; those that are ready have "
               "no GPU for it (role=builder, gpus=none, another model, or "
               "quarantined); the last to fail, b: no route");
}

static void one_that_may_measure_is_awaited(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 0);
    expect_none(RIG_START_NS);
    rig.list[1].role = HOST_BUILDER;
    expect_end(RIG_START_NS, 3, "error",
               "no host is left that can measure; those that are ready have "
               "no GPU for it (role=builder, gpus=none, another model, or "
               "quarantined)");
}

static const char *const no_builder =
    "no host is left that can build; those that are ready have role=gpu in "
    "the hosts file: give one role=both";

static void what_must_be_built_needs_a_builder(void **state)
{
    (void)state;
    rig.list[0].role = HOST_GPU;
    rig_ready(&rig, 0, 1, 1);
    expect_none(RIG_START_NS + LONG_NS); /* b is awaited */
    expect_end(RIG_START_NS + LONG_NS + 1, 3, "error", no_builder);
}

static void a_builder_that_cannot_come_is_not_awaited(void **state)
{
    (void)state;
    rig.list[0].role = rig.list[1].role = HOST_GPU;
    rig_ready(&rig, 0, 1, 1);
    expect_end(RIG_START_NS, 3, "error", no_builder);
}

static void where_all_is_built_no_builder_is_missed(void **state)
{
    (void)state;
    rig.list[0].role = rig.list[1].role = HOST_GPU;
    for (int unit = 0; unit <= plan_units(rig.sweep.work.plan); unit++)
        sched_built_at(rig.sweep.work.sched, unit, 0);
    rig_ready(&rig, 0, 1, 1);
    expect_none(RIG_START_NS);
}

/* The reference is the last of the units. */
static void the_reference_must_be_built_too(void **state)
{
    int units = plan_units(rig.sweep.work.plan);

    (void)state;
    rig.list[0].role = rig.list[1].role = HOST_GPU;
    for (int unit = 0; unit < units; unit++)
        sched_built_at(rig.sweep.work.sched, unit, 0);
    rig_ready(&rig, 0, 1, 1);
    expect_end(RIG_START_NS, 3, "error", no_builder);
}

static void with_work_out_nothing_ends(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig.list[0].role = rig.list[1].role = HOST_GPU;
    expect_none(RIG_START_NS);
}

static void builds_alone_need_no_gpu(void **state)
{
    (void)state;
    rig.options.builds_only = true;
    fail_both(3);
    rig_ready(&rig, 0, 1, 0);
    expect_none(RIG_START_NS + LONG_NS + 1);
}

static void a_failed_host_is_not_awaited(void **state)
{
    (void)state;
    host(0)->state = host(1)->state = HOST_STATE_FAILED;
    host(0)->was_ready = true;
    expect_end(
        RIG_START_NS, 3, "error",
        "no host is left: no host answers; 'fa-coord doctor' asks each why");
}

/* Who else may measure what host a could not. */
static void another_host_is_one_that_measures_now_or_later(void **state)
{
    (void)state;
    assert_true(host_supply_has_other(&rig.sweep, 0)); /* b is awaited */
    rig.list[1].role = HOST_BUILDER;
    assert_false(host_supply_has_other(&rig.sweep, 0));
    rig.list[1].role = HOST_BOTH;
    host(1)->conn.tries = 3;
    assert_false(host_supply_has_other(&rig.sweep, 0));
    rig_ready(&rig, 1, 1, 1);
    assert_true(host_supply_has_other(&rig.sweep, 0));
    host(1)->conduct.condemned = true;
    assert_false(host_supply_has_other(&rig.sweep, 0));
    host(1)->conduct.condemned = false;
    host(1)->n_gpus = 0;
    assert_false(host_supply_has_other(&rig.sweep, 0));
    host(1)->n_gpus = 1;
    host(1)->state = HOST_STATE_FAILED;
    assert_false(host_supply_has_other(&rig.sweep, 0));
}

static bool bans_second(const struct sweep *sweep, const struct pass *pass,
                        size_t on, int gpu)
{
    (void)sweep;
    (void)pass;
    return on == 0 && gpu == 1;
}

static void a_gpu_that_is_quarantined_is_none(void **state)
{
    static const struct pass_ops ops = { .bans = bans_second };

    (void)state;
    fail_both(3);
    rig.sweep.passes.list[0] = (struct pass){ &ops, 0, &rig };
    rig.sweep.passes.n = 1;
    rig_ready(&rig, 0, 1, 2);
    expect_none(RIG_START_NS + LONG_NS + 1);
    host(1)->state = HOST_STATE_READY;
    assert_true(host_supply_has_other(&rig.sweep, 1));
}

static void a_machine_that_the_plan_leaves_out_is_not_to_come(void **state)
{
    struct host_state *h = host(0);

    (void)state;
    assert_true(host_state_is_to_come(h));
    h->conn.is_rented = true;
    assert_false(host_state_is_to_come(h));
    h->conn.is_wanted = true;
    assert_true(host_state_is_to_come(h));
    h->state = HOST_STATE_READY;
    assert_false(host_state_is_to_come(h));
    h->state = HOST_STATE_FAILED;
    assert_false(host_state_is_to_come(h));
}

/* It was seen without a GPU for this sweep, so it is not acquired again. */
static void a_rented_machine_without_a_gpu_is_no_hope(void **state)
{
    struct host_state *h = host(0);

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    h->conn.is_rented = true;
    assert_true(host_supply_may_measure(&rig.sweep, 0));
    h->n_gpus = h->n_known = 0;
    h->was_ready = true;
    assert_false(host_supply_may_measure(&rig.sweep, 0));
    h->state = HOST_STATE_AWAY;
    assert_false(host_supply_may_measure(&rig.sweep, 0));
    h->conn.is_rented = false; /* it may be mended */
    assert_true(host_supply_may_measure(&rig.sweep, 0));
}

/* A new worker has said HELLO, which is before it names its GPUs. */
static void a_rented_machine_that_left_after_hello_keeps_its_gpus(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    host(0)->conn.is_rented = true;
    rig_take(&rig, 0, rig_hello(8));
    host(0)->state = HOST_STATE_AWAY;
    assert_int_equal(host(0)->n_gpus, 0);
    assert_true(host_supply_may_measure(&rig.sweep, 0));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_rented_machine_without_a_gpu_is_no_hope),
        CASE(a_rented_machine_that_left_after_hello_keeps_its_gpus),
        CASE(two_uploads_that_stand_still_leave_time_for_a_third),
        CASE(three_tries_each_and_there_is_no_hope),
        CASE(a_relay_that_is_up_is_hope),
        CASE(who_was_ready_may_come_back_for_two_minutes),
        CASE(with_something_settled_the_end_is_partial),
        CASE(a_key_that_is_not_taken_is_exit_4),
        CASE(a_host_key_that_is_not_accepted_is_exit_4),
        CASE(a_single_host_is_named_with_its_reason),
        CASE(who_says_nothing_at_all_does_not_answer),
        CASE(a_host_of_another_sweep_is_waited_for_without_end),
        CASE(a_host_is_waited_for_only_for_what_it_can_do),
        CASE(a_check_does_not_wait_for_another_sweep),
        CASE(a_host_that_measures_and_builds_is_enough),
        CASE(without_a_gpu_nothing_is_measured),
        CASE(one_that_may_measure_is_awaited),
        CASE(what_must_be_built_needs_a_builder),
        CASE(a_builder_that_cannot_come_is_not_awaited),
        CASE(where_all_is_built_no_builder_is_missed),
        CASE(the_reference_must_be_built_too),
        CASE(with_work_out_nothing_ends),
        CASE(builds_alone_need_no_gpu),
        CASE(a_failed_host_is_not_awaited),
        CASE(another_host_is_one_that_measures_now_or_later),
        CASE(a_gpu_that_is_quarantined_is_none),
        CASE(a_machine_that_the_plan_leaves_out_is_not_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
