/* A host that start= acquires, beside a builder that is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <poll.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/rented.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/sql/sql.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/rented_rig.h"

#define TURNS_MAX 5000 /* of a millisecond and more */

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rented_open(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rented_close(&rig);
    return 0;
}

static void turn_until(enum rental_state wanted)
{
    rented_turn_until(&rig, wanted);
}

static void what_is_released_costs_nothing_more(void **state)
{
    struct bill bill = { 0 };

    (void)state;
    turn_until(RENTAL_HELD);
    rig.now_ns += NS_PER_S / 10; /* sooner than the next plan */
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
    turn_until(RENTAL_FREE);
    ledger_bill(rig.sweep.fleet.ledger, rig.now_ns + 10 * NS_PER_S, &bill);
    assert_int_equal(bill.held_ns, NS_PER_S / 10);
}

static int64_t held_ns(int64_t until_ns)
{
    struct bill bill = { 0 };

    ledger_bill(rig.sweep.fleet.ledger, until_ns, &bill);
    return bill.held_ns;
}

static void what_is_not_acquired_costs_nothing(void **state)
{
    (void)state;
    assert_int_equal(held_ns(rig.now_ns + NS_PER_S), 0);
}

/* It was acquired in the step before. */
static void what_is_held_costs_from_the_start_of_the_step(void **state)
{
    (void)state;
    turn_until(RENTAL_HELD);
    ledger_free(rig.sweep.fleet.ledger);
    rig.sweep.fleet.ledger = ledger_new(2, records_put_interval, &rig.sweep);
    rented_begin(&rig.sweep, 0);
    assert_int_equal(held_ns(RIG_START_NS + NS_PER_S), NS_PER_S);
}

static int64_t events(const char *name)
{
    char where[80];

    snprintf(where, sizeof(where), "event WHERE name = 'HOST-%s'", name);
    return rig_rows(&rig, where);
}

static void what_becomes_of_a_machine_is_written_down(void **state)
{
    (void)state;
    turn_until(RENTAL_STARTING);
    assert_int_equal(events("STARTS"), 1);
    turn_until(RENTAL_HELD);
    assert_int_equal(events("ACQUIRED"), 1);
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
    turn_until(RENTAL_FREE);
    assert_int_equal(events("RELEASED"), 1);
    assert_int_equal(events("NOT-ACQUIRED") + events("NOT-RELEASED"), 0);
}

/* The next step of a command begins with what became of the machines. */
static void what_was_not_acquired_costs_nothing_in_the_next_step(void **state)
{
    struct bill before = { 0 }, after = { 0 };

    (void)state;
    snprintf(rig.list[0].rental.start, sizeof(rig.list[0].rental.start),
             "false");
    for (int i = 0; i < TURNS_MAX; i++) {
        rig.now_ns += NS_PER_S;
        rented_step(&rig);
        if (rented_state(&rig) == RENTAL_LOST)
            break;
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(rented_state(&rig), RENTAL_LOST);
    assert_int_equal(events("NOT-ACQUIRED"), 3);
    assert_int_equal(rig.sweep.fleet.hosts[0].state, HOST_STATE_FAILED);
    assert_string_equal(rig.sweep.fleet.hosts[0].conn.why,
                        "it could not be acquired");
    ledger_bill(rig.sweep.fleet.ledger, rig.now_ns, &before);
    rented_begin(&rig.sweep, 0);
    ledger_bill(rig.sweep.fleet.ledger, rig.now_ns + NS_PER_S, &after);
    assert_int_equal(after.held_ns, before.held_ns);
}

static void a_machine_that_is_never_released_is_not_waited_for(void **state)
{
    const struct host_state *host = &rig.sweep.fleet.hosts[0];
    int64_t released_ns;

    (void)state;
    snprintf(rig.list[0].rental.stop, sizeof(rig.list[0].rental.stop), "false");
    turn_until(RENTAL_HELD);
    released_ns = rig.now_ns;
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
    turn_until(RENTAL_STOPPING);
    for (int i = 0; i < TURNS_MAX && host->state != HOST_STATE_FAILED; i++) {
        rig.now_ns += NS_PER_S / 10;
        rented_step(&rig);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(host->state, HOST_STATE_FAILED);
    assert_true(rig.now_ns - released_ns >= 60 * NS_PER_S);
    assert_non_null(strstr(host->conn.why, "it cannot be released: stop= "
                                           "failed with status 1"));
    assert_int_equal(rented_state(&rig), RENTAL_STOPPING);
}

/* Its worker waits for a lease, and has one, too. */
static void come_to_the_machine(void)
{
    rig.sweep.fleet.hosts[0].conn.is_parked = true;
    turn_until(RENTAL_HELD);
    assert_false(rig.sweep.fleet.hosts[0].conn.is_linked);
    rented_step(&rig);
    assert_true(rig.sweep.fleet.hosts[0].conn.is_linked);
    rig_ready(&rig, 0, 1, 1);
    rig_lease(&rig, 0, JOB_BUILD, 3);
    rig.now_ns += NS_PER_S / 10; /* sooner than the next plan */
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
}

/* A worker that goes on would keep the machine from being used again. */
static void a_worker_is_stopped_before_its_machine(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    come_to_the_machine();
    rented_step(&rig);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    assert_null(sched_lease_on(rig.sweep.work.sched, 0));
    assert_int_equal(host->conn.leave_ns, rig.now_ns + 2 * NS_PER_S);
    rented_step(&rig);
    assert_int_equal(rented_state(&rig), RENTAL_HELD);
    assert_int_equal(rig_count(&rig, MSG_STOP), 1);
    host_events_bye(&rig.sweep, 0);
    assert_true(host->conn.is_parked);
    turn_until(RENTAL_FREE);
}

/* Else it would go back to the machine while that is stopped. */
static void a_worker_that_leaves_is_not_linked_again(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    come_to_the_machine();
    rented_step(&rig);
    host->conn.is_parked = host->conn.is_wanted = true;
    host->conn.linked_ns = 1;
    rented_step(&rig);
    assert_int_equal(host->conn.linked_ns, 1);
}

static void a_worker_that_hears_nothing_is_not_waited_for(void **state)
{
    (void)state;
    come_to_the_machine();
    rig.is_deaf[0] = true;
    rented_step(&rig);
    assert_null(sched_lease_on(rig.sweep.work.sched, 0));
    assert_true(rig.sweep.fleet.hosts[0].conn.is_parked);
    assert_int_equal(rented_state(&rig), RENTAL_STOPPING);
}

static void what_failed_is_not_lost_again_when_it_is_released(void **state)
{
    (void)state;
    come_to_the_machine();
    rig.sweep.fleet.hosts[0].state = HOST_STATE_FAILED;
    rented_step(&rig);
    assert_non_null(sched_lease_on(rig.sweep.work.sched, 0));
    assert_int_equal(rig_count(&rig, MSG_STOP), 0);
    assert_int_equal(rented_state(&rig), RENTAL_STOPPING);
}

/* The try that runs ends. */
static void stop_fails(int tries)
{
    for (int i = 0; i < TURNS_MAX && events("NOT-RELEASED") < tries; i++) {
        rented_step(&rig);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(events("NOT-RELEASED"), tries);
}

/* Two tries in a long time say little: stop= may run slowly. */
static void three_tries_to_release_it_take_a_minute_at_least(void **state)
{
    const struct host_state *host = &rig.sweep.fleet.hosts[0];
    const int64_t released_ns = rig.now_ns + NS_PER_S / 10;

    (void)state;
    snprintf(rig.list[0].rental.stop, sizeof(rig.list[0].rental.stop), "false");
    turn_until(RENTAL_HELD);
    rig.now_ns = released_ns;
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
    turn_until(RENTAL_STOPPING);
    stop_fails(1);
    rig.now_ns = released_ns + 59 * NS_PER_S;
    rented_step(&rig); /* the second try begins */
    rig.now_ns = released_ns + 60 * NS_PER_S;
    stop_fails(2);
    assert_int_not_equal(host->state, HOST_STATE_FAILED);
    rig.now_ns += NS_PER_S;
    rented_step(&rig);
    stop_fails(3);
    assert_int_equal(host->state, HOST_STATE_FAILED);
}

/* Its fourth stop= fails so long after the first one began. */
static enum host_state_state state_after(int64_t ns)
{
    const int64_t released_ns = rig.now_ns + NS_PER_S / 10;

    snprintf(rig.list[0].rental.stop, sizeof(rig.list[0].rental.stop), "false");
    turn_until(RENTAL_HELD);
    rig.now_ns = released_ns;
    rig.sweep.fleet.hosts[0].conn.is_wanted = false;
    turn_until(RENTAL_STOPPING);
    for (int tries = 1; tries < 4; tries++) {
        stop_fails(tries);
        rig.now_ns += NS_PER_S;
        rented_step(&rig); /* the next try begins */
    }
    rig.now_ns = released_ns + ns;
    stop_fails(4);
    return rig.sweep.fleet.hosts[0].state;
}

static void a_minute_after_its_first_try_it_is_not_waited_for(void **state)
{
    assert_int_not_equal(state_after(60 * NS_PER_S - 1), HOST_STATE_FAILED);
    tear_down(state);
    set_up(state);
    assert_int_equal(state_after(60 * NS_PER_S), HOST_STATE_FAILED);
}

/* Its start= cannot even be run. */
static void a_machine_without_a_command_is_given_up(void **state)
{
    const struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    snprintf(rig.list[0].rental.start, sizeof(rig.list[0].rental.start), " ");
    rented_step(&rig);
    assert_int_equal(host->state, HOST_STATE_FAILED);
    assert_int_equal(host->conn.code, ERR_INPUT);
    assert_null(rig.sweep.reactor.ending);
}

static void a_row_that_cannot_be_kept_ends_the_sweep(void **state)
{
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        sql_run(store_db(rig.sweep.mail.store), "DROP TABLE acquisition", &err),
        0);
    rented_step(&rig);
    assert_non_null(rig.sweep.reactor.ending);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
    assert_int_not_equal(rig.sweep.fleet.hosts[0].state, HOST_STATE_FAILED);
}

static bool is_held_after_three_tries(void)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    host->state = HOST_STATE_AWAY;
    host->conn.tries = 3;
    rented_step(&rig);
    return rented_state(&rig) == RENTAL_HELD;
}

/* Every run of a command begins with hosts that were not ready. */
static void a_spot_machine_vanishes_also_between_two_runs(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    rig.list[0].rental.spot = true;
    host->conn.is_parked = true;
    turn_until(RENTAL_HELD);
    host->state = HOST_STATE_READY;
    rented_step(&rig);
    host->was_ready = false;
    assert_false(is_held_after_three_tries());
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-VANISHED'"), 1);
}

/* It refuses connections until its sshd runs. */
static void a_spot_machine_that_boots_again_has_not_vanished(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    rig.list[0].rental.spot = true;
    host->conn.is_parked = true;
    host->was_ready = true; /* before it was taken away */
    turn_until(RENTAL_HELD);
    rented_step(&rig);
    assert_true(host->conn.is_linked);
    assert_true(is_held_after_three_tries());
}

/* The exit code of the command says it. */
static void a_machine_that_refuses_logins_is_given_up_for_that(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    (void)state;
    host->conn.is_parked = true; /* its thread has said so */
    turn_until(RENTAL_HELD);
    rented_step(&rig);
    assert_true(host->conn.is_linked);
    host->conn.code = ERR_AUTH;
    rig.now_ns += 119 * NS_PER_S;
    rented_step(&rig);
    assert_int_not_equal(host->state, HOST_STATE_FAILED);
    rig.now_ns += NS_PER_S;
    rented_step(&rig);
    assert_int_equal(host->state, HOST_STATE_FAILED);
    assert_int_equal(host->conn.code, ERR_AUTH);
}

static void give_up_for_its_key(void)
{
    static const struct host_thread_news news = { .event = HOST_THREADS_GAVE_UP,
                                                  .code = ERR_HOST_KEY,
                                                  .text = "host key: unknown" };

    rig.sweep.fleet.hosts[0].conn.is_parked = true; /* its thread said so */
    turn_until(RENTAL_HELD);
    rented_step(&rig);
    host_events_news(&rig.sweep, &news);
}

static void
a_machine_whose_host_key_is_refused_is_released_at_once(void **state)
{
    (void)state;
    give_up_for_its_key();
    turn_until(RENTAL_LOST); /* the rig's time stands still */
    assert_int_equal(rig.sweep.fleet.hosts[0].state, HOST_STATE_FAILED);
    assert_int_equal(rig.sweep.fleet.hosts[0].conn.code, ERR_HOST_KEY);
    assert_int_equal(events("RELEASED"), 1);
}

static void what_was_given_up_is_not_acquired_in_the_next_step(void **state)
{
    (void)state;
    give_up_for_its_key();
    turn_until(RENTAL_LOST);
    rig.sweep.fleet.hosts[0] = (struct host_state){ .host = &rig.list[0] };
    rented_begin(&rig.sweep, 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].state, HOST_STATE_FAILED);
    rig.now_ns += NS_PER_S;
    rented_step(&rig);
    assert_int_equal(rented_state(&rig), RENTAL_LOST);
    assert_false(rig.sweep.fleet.hosts[0].conn.is_wanted);
}

/* Instead of the rig's: all of one start=. */
static void open_four(void)
{
    rented_close(&rig);
    rig_open_bare(&rig, 4);
    for (size_t i = 0; i < 4; i++) {
        snprintf(rig.list[i].rental.start, sizeof(rig.list[i].rental.start),
                 "true");
        snprintf(rig.list[i].rental.stop, sizeof(rig.list[i].rental.stop),
                 "true");
    }
    rig.options.stay.rental.machines = rental_new(&rig.hosts, "/");
    rig.options.stay.rental.store = rig.sweep.mail.store;
    rig_begin(&rig);
    for (size_t i = 0; i < 4; i++)
        rented_begin(&rig.sweep, i);
}

static void find_useless(size_t i)
{
    struct rental *machines = rig.options.stay.rental.machines;
    struct host_state *host = &rig.sweep.fleet.hosts[i];
    enum rental_event event = RENTAL_NOTHING;
    struct err err;

    for (int n = 0; n < TURNS_MAX && event != RENTAL_ACQUIRED; n++) {
        assert_int_equal(rental_turn(machines, rig.sweep.mail.store, i, true,
                                     rig.now_ns, &event, &err),
                         0);
        (void)poll(NULL, 0, 1);
    }
    rental_give_up(machines, i);
    host->state = HOST_STATE_FAILED;
    host->conn.code = ERR_HOST_KEY;
    snprintf(host->conn.why, sizeof(host->conn.why), "host key: unknown");
}

static void
the_fourth_of_a_start_that_is_of_no_use_is_not_acquired(void **state)
{
    struct host_state *last;

    (void)state;
    open_four();
    last = &rig.sweep.fleet.hosts[3];
    for (size_t i = 0; i < 3; i++)
        find_useless(i);
    rig.now_ns += NS_PER_S;
    rented_step(&rig);
    assert_int_equal(last->state, HOST_STATE_FAILED);
    assert_int_equal(last->conn.code, ERR_HOST_KEY);
    assert_string_equal(last->conn.why, "3 machines of the same start= could "
                                        "not be used: a: host key: unknown");
    assert_int_equal(rental_state(rig.options.stay.rental.machines, 3),
                     RENTAL_LOST);
    assert_int_equal(events("STARTS"), 0); /* by the reactor */
}

static void the_third_of_a_start_is_acquired(void **state)
{
    (void)state;
    open_four();
    for (size_t i = 0; i < 2; i++)
        find_useless(i);
    rig.now_ns += NS_PER_S;
    rented_step(&rig);
    assert_int_equal(rig.sweep.fleet.hosts[2].state, HOST_STATE_AWAY);
    assert_int_equal(events("STARTS"), 2); /* that, and the fourth */
}

/* The search asks for them only after it was told what others measure. */
static void a_gpu_does_not_wait_for_builds_that_are_held_back(void **state)
{
    (void)state;
    rig.list[0].role = HOST_GPU;
    for (int unit = 0; unit < plan_units(rig.sweep.work.plan); unit++)
        sched_hold(rig.sweep.work.sched, unit);
    turn_until(RENTAL_HELD);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_released_costs_nothing_more),
        CASE(a_machine_whose_host_key_is_refused_is_released_at_once),
        CASE(what_was_given_up_is_not_acquired_in_the_next_step),
        CASE(the_fourth_of_a_start_that_is_of_no_use_is_not_acquired),
        CASE(the_third_of_a_start_is_acquired),
        CASE(what_is_not_acquired_costs_nothing),
        CASE(what_is_held_costs_from_the_start_of_the_step),
        CASE(what_becomes_of_a_machine_is_written_down),
        CASE(a_worker_is_stopped_before_its_machine),
        CASE(a_worker_that_leaves_is_not_linked_again),
        CASE(a_worker_that_hears_nothing_is_not_waited_for),
        CASE(what_failed_is_not_lost_again_when_it_is_released),
        CASE(three_tries_to_release_it_take_a_minute_at_least),
        CASE(a_minute_after_its_first_try_it_is_not_waited_for),
        CASE(a_machine_without_a_command_is_given_up),
        CASE(a_row_that_cannot_be_kept_ends_the_sweep),
        CASE(what_was_not_acquired_costs_nothing_in_the_next_step),
        CASE(a_machine_that_is_never_released_is_not_waited_for),
        CASE(a_spot_machine_vanishes_also_between_two_runs),
        CASE(a_spot_machine_that_boots_again_has_not_vanished),
        CASE(a_machine_that_refuses_logins_is_given_up_for_that),
        CASE(a_gpu_does_not_wait_for_builds_that_are_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
