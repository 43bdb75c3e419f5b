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
#include "coordinator/reactor/rented.h"
#include "coordinator/rental/rental.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/schedule/ledger.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define TURNS_MAX 5000 /* of a millisecond, for a command that ends at once */

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open_bare(&rig, 2);
    snprintf(rig.list[0].rental.start, sizeof(rig.list[0].rental.start),
             "true");
    snprintf(rig.list[0].rental.stop, sizeof(rig.list[0].rental.stop), "true");
    rig.list[1].role = HOST_BUILDER;
    rig.options.stay.rental.machines = rental_new(&rig.hosts, "/");
    rig.options.stay.rental.store = rig.sweep.mail.store;
    rig_begin(&rig);
    rented_begin(&rig.sweep, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rental_free(rig.options.stay.rental.machines);
    rig_close(&rig);
    return 0;
}

static void turn_until(enum rental_state wanted)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        rented_turn(&rig.sweep, rig.now_ns);
        if (rental_state(rig.options.stay.rental.machines, 0) == wanted)
            return;
        (void)poll(NULL, 0, 1);
    }
    fail_msg("it is not in state %d", (int)wanted);
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

/* The next step of a command begins with what became of the machines. */
static void what_was_not_acquired_costs_nothing_in_the_next_step(void **state)
{
    struct bill before = { 0 }, after = { 0 };

    (void)state;
    snprintf(rig.list[0].rental.start, sizeof(rig.list[0].rental.start),
             "false");
    for (int i = 0; i < TURNS_MAX; i++) {
        rig.now_ns += NS_PER_S;
        rented_turn(&rig.sweep, rig.now_ns);
        if (rental_state(rig.options.stay.rental.machines, 0) == RENTAL_LOST)
            break;
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(rental_state(rig.options.stay.rental.machines, 0),
                     RENTAL_LOST);
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
        rented_turn(&rig.sweep, rig.now_ns);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(host->state, HOST_STATE_FAILED);
    assert_true(rig.now_ns - released_ns >= 60 * NS_PER_S);
    assert_non_null(strstr(host->conn.why, "it cannot be released: stop= "
                                           "failed with status 1"));
    assert_int_equal(rental_state(rig.options.stay.rental.machines, 0),
                     RENTAL_STOPPING);
}

static bool is_held_after_three_tries(void)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];

    host->state = HOST_STATE_AWAY;
    host->conn.tries = 3;
    rented_turn(&rig.sweep, rig.now_ns);
    return rental_state(rig.options.stay.rental.machines, 0) == RENTAL_HELD;
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
    rented_turn(&rig.sweep, rig.now_ns);
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
    rented_turn(&rig.sweep, rig.now_ns);
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
    rented_turn(&rig.sweep, rig.now_ns);
    assert_true(host->conn.is_linked);
    host->conn.code = ERR_AUTH;
    rig.now_ns += 119 * NS_PER_S;
    rented_turn(&rig.sweep, rig.now_ns);
    assert_int_not_equal(host->state, HOST_STATE_FAILED);
    rig.now_ns += NS_PER_S;
    rented_turn(&rig.sweep, rig.now_ns);
    assert_int_equal(host->state, HOST_STATE_FAILED);
    assert_int_equal(host->conn.code, ERR_AUTH);
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
        CASE(what_was_not_acquired_costs_nothing_in_the_next_step),
        CASE(a_machine_that_is_never_released_is_not_waited_for),
        CASE(a_spot_machine_vanishes_also_between_two_runs),
        CASE(a_spot_machine_that_boots_again_has_not_vanished),
        CASE(a_machine_that_refuses_logins_is_given_up_for_that),
        CASE(a_gpu_does_not_wait_for_builds_that_are_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
