/* A host waits for another sweep, its connection breaks, or it is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/owner.h"
#include "coordinator/live/said.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/outbox.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open_held(&rig, 2);
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

static void news(enum host_threads_event event, int code, const char *text)
{
    rig_news(&rig, event, code, text);
}

static void a_broken_connection_is_told_once(void **state)
{
    const char *heard;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_int_equal(host(0)->state, HOST_STATE_AWAY);
    assert_int_equal(host(0)->conn.tries, 1);
    assert_int_equal(host(0)->conn.code, ERR_NETWORK);
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_int_equal(host(0)->conn.tries, 2);
    heard = strstr(rig_heard(&rig), "a: reset; trying again");
    assert_non_null(heard);
    assert_null(strstr(heard + 1, "a: reset; trying again"));
    assert_int_equal(rig_dispatch(&rig), 0);
    news(HOST_THREADS_ATTACHED, 0, "");
    assert_int_equal(host(0)->conn.tries, 0);
    assert_true(host(0)->conn.attached);
}

static void another_reason_is_told_too(void **state)
{
    (void)state;
    snprintf(host(0)->conn.bye, sizeof(host(0)->conn.bye), "evicted");
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_string_equal(host(0)->conn.why, "reset: evicted");
    host(0)->conn.bye[0] = '\0';
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "no route");
    assert_non_null(strstr(rig_heard(&rig), "a: no route; trying again"));
}

/* How often this was said. */
static int said(const char *text)
{
    int n = 0;

    for (const char *at = rig_heard(&rig); (at = strstr(at, text)); at++)
        n++;
    return n;
}

#define ADA ": ada@a, pid 12"

/* Whose it is, is said once; then that its owner is gone; then who has it. */
static void a_worker_of_another_sweep_is_waited_for(void **state)
{
    (void)state;
    host(0)->conn.tries = 2;
    for (int i = 0; i < 3; i++) {
        char why[80];

        snprintf(why, sizeof(why), OWNER_IS_HERE ADA ", step %d", i);
        news(HOST_THREADS_WAITING, 0, why);
    }
    for (int left_s = 90; left_s > 0; left_s -= 15) {
        char why[80];

        snprintf(why, sizeof(why), OWNER_IS_GONE ADA ", db; %d s", left_s);
        news(HOST_THREADS_WAITING, 0, why);
        assert_int_equal(host(0)->conn.tries, 0);
        assert_true(host(0)->conn.waits);
    }
    news(HOST_THREADS_WAITING, 0, OWNER_IS_HERE ADA "3, db");
    news(HOST_THREADS_WAITING, 0, OWNER_IS_HERE);
    assert_int_equal(said("; waiting\n"), 4);
    assert_int_equal(said("a: " OWNER_IS_HERE ADA ", step 0; waiting\n"), 1);
    assert_int_equal(said("a: " OWNER_IS_GONE ADA ", db; 90 s; waiting\n"), 1);
    assert_int_equal(said("a: " OWNER_IS_HERE ADA "3, db; waiting\n"), 1);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-WAITS'"), 4);
    assert_int_equal(
        rig_rows(&rig, "event WHERE text = 'a: " OWNER_IS_HERE "'"), 1);
    assert_string_equal(host(0)->conn.why, OWNER_IS_HERE);
}

static void a_ready_host_may_wait_for_more_gpus(void **state)
{
    struct err err = { "" };
    struct msg ready = { .type = MSG_READY,
                         .ready = { .toolkit = "g++ 12.2.0",
                                    .slots = 1,
                                    .measure_credit = 1,
                                    .waits = "its GPU 0 serves" ADA } };

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(host_events_ready(&rig.sweep, 0, &ready, &err), 0);
    assert_int_equal(said("a: its GPU 0 serves" ADA "; waiting for that\n"), 1);
    assert_false(host(0)->conn.waits);
    assert_int_equal(host(0)->state, HOST_STATE_READY);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-WAITS' AND text ="
                                    " 'a: its GPU 0 serves" ADA "' AND id ="
                                    " (SELECT max(id) FROM event)"),
                     1);
    ready.ready.waits = "";
    assert_int_equal(host_events_ready(&rig.sweep, 0, &ready, &err), 0);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-READY' AND id ="
                                    " (SELECT max(id) FROM event)"),
                     1);
}

static void after_a_wait_it_is_attached_or_broken(void **state)
{
    (void)state;
    news(HOST_THREADS_WAITING, 0, OWNER_IS_HERE ": ada");
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_false(host(0)->conn.waits);
    assert_int_equal(host(0)->conn.tries, 1);
    news(HOST_THREADS_WAITING, 0, OWNER_IS_HERE ": ada");
    assert_int_equal(said("a: " OWNER_IS_HERE ": ada; waiting\n"), 2);
    news(HOST_THREADS_ATTACHED, 0, "");
    assert_false(host(0)->conn.waits);
}

/* So that no worker stays for the linger time. */
static void a_host_that_is_given_up_is_told_to_stop(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    host(0)->conn.attached = host(0)->conn.waits = true;
    host_events_give_up(&rig.sweep, 0, ERR_NETWORK, "its leases expire");
    assert_int_equal(host(0)->state, HOST_STATE_FAILED);
    assert_false(host(0)->conn.attached || host(0)->conn.waits);
    assert_int_equal(rig_count(&rig, MSG_STOP), 1);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    assert_int_equal(rig.dismissed[0], 0);
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "the worker ended");
    assert_int_equal(rig.dismissed[0], 1);
    assert_string_equal(host(0)->conn.why, "its leases expire");
    assert_null(strstr(rig_heard(&rig), "trying again"));
    host_events_leave(&rig.sweep, INT64_MAX);
    news(HOST_THREADS_CONNECTING, 0, "");
    assert_int_equal(rig.dismissed[0], 1);
}

static void one_that_does_not_stop_is_left_after_2_s(void **state)
{
    int64_t began_ns = rig.now_ns;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    host_events_give_up(&rig.sweep, 0, ERR_NETWORK, "its leases expire");
    host_events_leave(&rig.sweep, began_ns + 2 * NS_PER_S - 1);
    assert_int_equal(rig.dismissed[0], 0);
    host_events_leave(&rig.sweep, began_ns + 2 * NS_PER_S);
    assert_int_equal(rig.dismissed[0], 1);
}

static void one_that_goes_on_offending_is_left_at_once(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    host_events_give_up(&rig.sweep, 0, ERR_PROTO, "it lies");
    host_events_give_up(&rig.sweep, 0, ERR_PROTO, "it lies again");
    assert_int_equal(rig.dismissed[0], 1);
    assert_string_equal(host(0)->conn.why, "it lies");
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-LOST'"), 1);
}

static void one_that_cannot_hear_is_left_at_once(void **state)
{
    (void)state;
    host_events_give_up(&rig.sweep, 0, ERR_NETWORK, "its leases expire");
    rig_come(&rig, 1, 8, NULL, 0);
    rig.is_deaf[1] = true;
    host_events_give_up(&rig.sweep, 1, ERR_NETWORK, "its leases expire");
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(rig.dismissed[1], 1);
}

static void a_connection_that_breaks_while_it_stops_is_not_told(void **state)
{
    (void)state;
    rig.sweep.reactor.stopping = 1;
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_int_equal(host(0)->conn.tries, 0);
    assert_null(strstr(rig_heard(&rig), "trying again"));
}

static void a_host_that_gives_up_is_not_used(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    news(HOST_THREADS_GAVE_UP, ERR_AUTH, "its key is not taken");
    assert_int_equal(host(0)->state, HOST_STATE_FAILED);
    assert_int_equal(host(0)->conn.code, ERR_AUTH);
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-LOST'"), 1);
    news(HOST_THREADS_ENDED, 0, "");
    assert_int_equal(host(0)->state, HOST_STATE_FAILED);
}

static void a_thread_that_ends_takes_its_host_along(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    news(HOST_THREADS_ATTACHED, 0, "");
    news(HOST_THREADS_ENDED, 0, "");
    assert_int_equal(host(0)->state, HOST_STATE_AWAY);
    assert_false(host(0)->conn.attached);
    assert_int_equal(rig_dispatch(&rig), 0);
}

/* What is given up is not paid any more when its worker has gone. */
static void a_host_that_is_given_up_is_released(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    host_events_give_up(&rig.sweep, 0, ERR_SYSTEM, "it is on fire");
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "the worker ended");
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns - start_ns) FROM "
                                      "interval WHERE host = 'a'"),
                     2000000000);
    assert_non_null(strstr(rig_heard(&rig), "a: not used: it is on fire"));
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-FAILED' AND "
                                    "text = 'a: it is on fire'"),
                     1);
}

/* In the next run of the command, it is news that it is ready. */
static void a_host_that_is_given_up_is_told_again_when_it_comes(void **state)
{
    struct said *all = said_new();

    (void)state;
    rig.options.watch.said = all;
    rig_come(&rig, 0, 7, NULL, 0);
    host_events_give_up(&rig.sweep, 0, ERR_SYSTEM, "it is on fire");
    host(0)->state = HOST_STATE_AWAY;
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(said("a: ready: "), 2);
    said_free(all);
}

/* With a single host, the last line says it. */
static void the_only_host_is_given_up_without_a_line(void **state)
{
    (void)state;
    rig.sweep.fleet.n = 1;
    host_events_give_up(&rig.sweep, 0, ERR_SYSTEM, "it is on fire");
    rig.sweep.fleet.n = 2;
    assert_null(strstr(rig_heard(&rig), "not used"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_broken_connection_is_told_once),
        CASE(another_reason_is_told_too),
        CASE(a_worker_of_another_sweep_is_waited_for),
        CASE(a_ready_host_may_wait_for_more_gpus),
        CASE(after_a_wait_it_is_attached_or_broken),
        CASE(a_host_that_is_given_up_is_told_to_stop),
        CASE(one_that_does_not_stop_is_left_after_2_s),
        CASE(one_that_goes_on_offending_is_left_at_once),
        CASE(one_that_cannot_hear_is_left_at_once),
        CASE(a_connection_that_breaks_while_it_stops_is_not_told),
        CASE(a_host_that_gives_up_is_not_used),
        CASE(a_thread_that_ends_takes_its_host_along),
        CASE(a_host_that_is_given_up_is_released),
        CASE(a_host_that_is_given_up_is_told_again_when_it_comes),
        CASE(the_only_host_is_given_up_without_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
