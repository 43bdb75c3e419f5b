#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/billing/reconcile_rows.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/store/whole.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC FIXTURE_EPOCH
#define S NS_PER_S

/* Held from 10 s to 20 s of the run, at 0.5 an hour; its last interval was put
 * later, and the coordinator was killed. */
static void put(struct store *store)
{
    const struct store_held held = { "box1",       UTC, 10 * S,  20 * S,
                                     UTC + 10 * S, 0.5, "search" };
    const struct store_interval row = { .host = "box1",
                                        .epoch = UTC,
                                        .start_ns = 10 * S,
                                        .end_ns = 21 * S,
                                        .start_utc = UTC + 10 * S,
                                        .category = "idle" };
    struct err err;

    assert_int_equal(store_held_put(store, &held, &err), 0);
    assert_int_equal(store_interval_put(store, &row, &err), 0);
}

static void bill(struct store *store, int64_t from_s, int64_t to_s,
                 int64_t least_ns)
{
    struct reconcile_allocation one = { .start_utc = UTC + from_s * S,
                                        .end_utc = UTC + to_s * S };
    const struct reconcile_rows of = { "box1", &one, 1, 3.5, least_ns };
    struct err err;

    assert_int_equal(reconcile_rows(store, &of, &err), 0);
}

static void assert_held(struct store *store, int64_t from_s, int64_t to_s,
                        int64_t rows)
{
    struct err err;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fixture_number(store, i ? "SELECT sum(end_ns-start_ns) FROM held"
                                    : "SELECT sum(end_ns-start_ns) FROM"
                                      " interval"),
            (to_s - from_s) * S);
        assert_int_equal(
            fixture_number(store, i ? "SELECT min(start_utc) FROM held"
                                    : "SELECT min(start_utc) FROM interval"),
            UTC + from_s * S);
    }
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held"), rows);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(whole_check(store_db(store), &err), 0);
}

static void what_is_missing_is_added(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_run(store, UTC);
    put(store);
    bill(store, 8, 40, 0);
    assert_held(store, 8, 40, 2);
    assert_int_equal(fixture_number(store, "SELECT end_ns-start_ns FROM"
                                           " interval WHERE"
                                           " category='acquiring'"),
                     2 * S);
    bill(store, 8, 40, 0); /* twice is once */
    assert_held(store, 8, 40, 2);
    bill(store, 8, 50, 0); /* it is longer by now */
    assert_held(store, 8, 50, 2);
    store_close(store);
}

static void what_is_too_much_is_cut(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_run(store, UTC);
    put(store);
    bill(store, 12, 18, 0);
    assert_held(store, 12, 18, 1);
    store_close(store);
}

static void what_differs_by_little_stays(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_run(store, UTC);
    put(store);
    bill(store, 9, 22, 2 * S);
    assert_held(store, 10, 21, 1);
    store_close(store);
}

/* Killed before it had put anything. */
/* It was set back by an hour in the first run, so the second one seems to have
 * held the host before, during and after the first. */
static void a_clock_that_was_set_back_adds_nothing(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    const struct store_held later = { "box1",        UTC + 1, S,       1501 * S,
                                      UTC - 600 * S, 0.5,     "search" };
    struct reconcile_allocation both[] = {
        { .start_utc = UTC + 10 * S, .end_utc = UTC + 21 * S },
        { .start_utc = UTC - 600 * S, .end_utc = UTC + 900 * S },
    };
    const struct reconcile_rows of = { "box1", both, 2, 0.5, 0 };
    struct err err;

    fixture_run(store, UTC);
    fixture_run(store, UTC + 1);
    put(store);
    assert_int_equal(store_held_put(store, &later, &err), 0);
    assert_int_equal(reconcile_rows(store, &of, &err), 0);
    assert_int_equal(
        fixture_number(store, "SELECT sum(end_ns-start_ns) FROM held"),
        (11 + 1500) * S);
    store_close(store);
}

static void a_host_that_was_never_held_gets_its_price(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_run(store, UTC);
    bill(store, 100, 130, 0);
    assert_held(store, 100, 130, 1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held WHERE"
                                           " rate_usd_per_h=3.5"),
                     1);
    store_close(store);
}

/* Killed before it had put anything of the second one. */
static void an_allocation_without_held_time_has_its_own_price(void **state)
{
    const double rates[] = { 0.5, 9 };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct reconcile_allocation list[] = {
        { UTC + 10 * S, UTC + 21 * S, &rates[0] },
        { UTC + 21 * S, UTC + 31 * S, &rates[1] },
    };
    const struct reconcile_rows of = { "box1", list, 2, rates[0], 0 };
    struct err err;

    fixture_run(store, UTC);
    put(store);
    assert_int_equal(reconcile_rows(store, &of, &err), 0);
    assert_held(store, 10, 31, 2);
    assert_int_equal(fixture_number(store, "SELECT end_ns-start_ns FROM held"
                                           " WHERE rate_usd_per_h=9"),
                     10 * S);
    store_close(store);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_missing_is_added),
        CASE(what_is_too_much_is_cut),
        CASE(what_differs_by_little_stays),
        CASE(a_clock_that_was_set_back_adds_nothing),
        CASE(a_host_that_was_never_held_gets_its_price),
        CASE(an_allocation_without_held_time_has_its_own_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
