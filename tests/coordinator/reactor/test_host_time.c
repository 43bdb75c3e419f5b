/* What the time of a host counts as, by the news of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/records.h"
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

static void its_time_is_told_apart(void **state)
{
    (void)state;
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_UPLOADING, 0, "");
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_ATTACHED, 0, "");
    rig.now_ns += NS_PER_S;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_rows(
            &rig,
            "interval WHERE host = 'a' AND category IN ('acquiring', "
            "'uploading', 'setup', 'idle') AND end_ns - start_ns = 1000000000"),
        4);
    assert_int_equal(host(0)->conn.linked_ns, RIG_START_NS + 2 * NS_PER_S);
}

static void a_host_that_waits_for_another_sweep_is_being_acquired(void **state)
{
    (void)state;
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_UPLOADING, 0, "");
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_WAITING, 0, "its worker serves ada, pid 4711, for 5 s");
    rig.now_ns += 3 * NS_PER_S;
    news(HOST_THREADS_WAITING, 0, "its worker serves ada, pid 4711, for 8 s");
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_number(&rig, "SELECT sum(end_ns - start_ns) FROM interval WHERE "
                         "host = 'a' AND category = 'acquiring'"),
        4 * NS_PER_S);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-WAITS'"), 1);
}

/* Its worker leaves, Slurm says later when the job ended. */
static void a_node_of_slurm_is_held_to_the_end_of_its_job(void **state)
{
    (void)state;
    ledger_keep_held(rig.sweep.fleet.ledger, records_put_held);
    rig.list[0].dial.back = true;
    rig.list[0].dial.slurm.task = 1;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += 5 * NS_PER_S;
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "its worker is silent");
    rig.now_ns += 5 * NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_rows(&rig, "held WHERE host = 'a' AND"
                                    " end_ns - start_ns = 10000000000"),
                     1);
    rig.now_ns += 5 * NS_PER_S;
    news(HOST_THREADS_JOB_ENDED, 8, "");
    rig.now_ns += 5 * NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_rows(&rig, "held WHERE host = 'a' AND"
                                    " end_ns - start_ns = 7000000000"),
                     1);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns - start_ns) FROM"
                                      " interval WHERE host = 'a'"),
                     7 * NS_PER_S);
}

/* What was written of the time after that is taken back. */
static void what_a_node_did_after_its_job_did_not_happen(void **state)
{
    (void)state;
    ledger_keep_held(rig.sweep.fleet.ledger, records_put_held);
    rig.list[0].dial.back = true;
    rig.list[0].dial.slurm.task = 1;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += 10 * NS_PER_S;
    news(HOST_THREADS_UPLOADING, 0, "");
    rig.now_ns += 5 * NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    news(HOST_THREADS_JOB_ENDED, 8, "");
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_number(&rig, "SELECT max(end_ns) FROM interval"
                                      " WHERE host = 'a'"),
                     RIG_START_NS + 7 * NS_PER_S);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns - start_ns) FROM"
                                      " interval WHERE host = 'a'"),
                     7 * NS_PER_S);
}

/* Lost for 5 s; then a worker says HELLO. */
static void lose_for_five_seconds(int64_t pid)
{
    ledger_keep_held(rig.sweep.fleet.ledger, records_put_held);
    rig.list[0].dial.back = true;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "its worker is silent");
    rig.now_ns += 5 * NS_PER_S;
    news(HOST_THREADS_ATTACHED, 0, "");
    rig_come(&rig, 0, pid, NULL, 0);
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
}

static void a_worker_that_was_frozen_has_cost_all_the_time(void **state)
{
    (void)state;
    lose_for_five_seconds(7);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns-start_ns) FROM held"
                                      " WHERE host = 'a'"),
                     7 * NS_PER_S);
}

static void a_worker_that_was_replaced_has_not(void **state)
{
    (void)state;
    lose_for_five_seconds(8);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns-start_ns) FROM held"
                                      " WHERE host = 'a'"),
                     2 * NS_PER_S);
}

static void
a_host_that_was_released_is_held_again_when_it_is_attached(void **state)
{
    (void)state;
    ledger_keep_held(rig.sweep.fleet.ledger, records_put_held);
    rig.now_ns += NS_PER_S;
    ledger_release(rig.sweep.fleet.ledger, 0, rig.now_ns);
    rig.now_ns += 5 * NS_PER_S;
    news(HOST_THREADS_ATTACHED, 0, "");
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_number(&rig, "SELECT sum(end_ns-start_ns) FROM held"
                                      " WHERE host = 'a'"),
                     2 * NS_PER_S);
}

/* A HELLO that came before the news of its connection. */
static void attached_after_hello_is_still_setup(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_ATTACHED, 0, "");
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_rows(&rig, "interval WHERE host = 'a' AND category = 'idle' AND "
                       "end_ns - start_ns = 2000000000"),
        1);
}

static void a_worker_that_greets_again_is_set_up_again(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    assert_int_equal(rig_take(&rig, 0, rig_hello(8)), 0);
    rig.now_ns += 2 * NS_PER_S;
    assert_int_equal(rig_take(&rig, 0, rig_is_ready()), 0);
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_rows(&rig, "interval WHERE host = 'a' AND category = 'setup' AND "
                       "end_ns - start_ns = 2000000000"),
        1);
}

/* Of the times between connections, only those before READY are of getting
 * it. */
static void connecting_is_acquiring_until_it_was_ready(void **state)
{
    (void)state;
    news(HOST_THREADS_UPLOADING, 0, "");
    rig.now_ns += NS_PER_S;
    news(HOST_THREADS_CONNECTING, 0, "");
    rig.now_ns += NS_PER_S;
    rig_come(&rig, 0, 7, NULL, 0);
    news(HOST_THREADS_CONNECTING, 0, "");
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_rows(&rig,
                 "interval WHERE host = 'a' AND end_ns - start_ns = 1000000000 "
                 "AND category IN ('uploading', 'acquiring', 'idle')"),
        3);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(its_time_is_told_apart),
        CASE(a_host_that_waits_for_another_sweep_is_being_acquired),
        CASE(a_node_of_slurm_is_held_to_the_end_of_its_job),
        CASE(what_a_node_did_after_its_job_did_not_happen),
        CASE(a_worker_that_was_frozen_has_cost_all_the_time),
        CASE(a_worker_that_was_replaced_has_not),
        CASE(a_host_that_was_released_is_held_again_when_it_is_attached),
        CASE(attached_after_hello_is_still_setup),
        CASE(a_worker_that_greets_again_is_set_up_again),
        CASE(connecting_is_acquiring_until_it_was_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
