/* Machines of which no use can be made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <poll.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/rental.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/store_fixture.h"

#define DEADLINE_NS (60 * NS_PER_S)

static struct host rented(const char *start)
{
    struct host host = { .name = "gpu7", .rental.stop = "true" };

    snprintf(host.rental.start, sizeof(host.rental.start), "%s", start);
    return host;
}

/* A turn of one of several machines, which ends in this state. */
static void turn_one(struct rental *rental, struct store *store, size_t host,
                     bool wanted, enum rental_state state)
{
    int64_t until = clock_boot_ns() + DEADLINE_NS;
    enum rental_event event;
    struct err err;

    while (rental_state(rental, host) != state && clock_boot_ns() < until) {
        assert_int_equal(rental_turn(rental, store, host, wanted,
                                     clock_boot_ns(), &event, &err),
                         0);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(rental_state(rental, host), state);
}

static void a_machine_that_is_given_up_is_not_acquired_again(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host = rented("true");
    struct hosts hosts = { .list = &host, .n = 1 };
    struct rental *rental = rental_new(&hosts, "/");

    turn_one(rental, store, 0, true, RENTAL_HELD);
    rental_give_up(rental, 0);
    turn_one(rental, store, 0, false, RENTAL_LOST);
    rental_free(rental);
    rental = rental_new(&hosts, "/");
    rental_give_up(rental, 0); /* before it was acquired */
    assert_int_equal(rental_state(rental, 0), RENTAL_LOST);
    assert_int_equal(rental_useless(rental, 0), 0);
    rental_free(rental);
    store_close(store);
}

static void machines_of_no_use_count_for_their_start(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host list[4];
    struct hosts hosts = { .list = list, .n = 4 };
    struct rental *rental;

    for (size_t i = 0; i < hosts.n; i++)
        list[i] = rented(i < 3 ? "true" : "true other");
    rental = rental_new(&hosts, "/");
    for (size_t i = 0; i < hosts.n; i++) {
        assert_int_equal(rental_useless(rental, 0), i < 3 ? i : 3);
        turn_one(rental, store, i, true, RENTAL_HELD);
        rental_give_up(rental, i);
    }
    assert_int_equal(rental_useless(rental, 0), 3);
    assert_int_equal(rental_useless(rental, 3), 1);
    rental_note_ready(rental, 1); /* some of them can be used */
    assert_int_equal(rental_useless(rental, 0), 0);
    assert_int_equal(rental_useless(rental, 3), 1);
    rental_free(rental);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_machine_that_is_given_up_is_not_acquired_again, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            machines_of_no_use_count_for_their_start, fixture_setup,
            fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
