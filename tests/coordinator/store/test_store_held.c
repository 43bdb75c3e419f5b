#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/store/whole.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC FIXTURE_EPOCH

static void put(struct store *store, const char *host, int64_t from, int64_t to)
{
    const struct store_held held = { host,       UTC, from,    to,
                                     UTC + from, 0.5, "search" };
    struct err err;

    assert_int_equal(store_held_put(store, &held, &err), 0);
    for (int64_t at = from; at < to; at += 10) {
        const struct store_interval row = { .host = host,
                                            .epoch = UTC,
                                            .start_ns = at,
                                            .end_ns = at + 10,
                                            .start_utc = UTC + at,
                                            .category = "idle" };

        assert_int_equal(store_interval_put(store, &row, &err), 0);
    }
}

static void cut(struct store *store, int64_t from, int64_t to)
{
    const struct store_span span = { "box1", UTC, from, to };
    struct err err;

    assert_int_equal(store_held_cut(store, &span, &err), 0);
}

static void assert_times(struct store *store, int64_t sum, int64_t first,
                         int64_t last)
{
    assert_int_equal(fixture_number(store, "SELECT sum(end_ns-start_ns) FROM"
                                           " held WHERE host='box1'"),
                     sum);
    assert_int_equal(fixture_number(store, "SELECT sum(end_ns-start_ns) FROM"
                                           " interval WHERE host='box1'"),
                     sum);
    assert_int_equal(fixture_number(store, "SELECT min(start_ns) FROM interval"
                                           " WHERE host='box1'"),
                     first);
    assert_int_equal(fixture_number(store, "SELECT max(end_ns) FROM interval"
                                           " WHERE host='box1'"),
                     last);
}

static void a_time_is_cut_from_rows_of_a_host(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err;

    fixture_run(store, UTC);
    put(store, "box1", 100, 200);
    put(store, "box2", 100, 200);
    cut(store, 195, INT64_MAX);
    assert_times(store, 95, 100, 195);
    cut(store, 0, 103);
    assert_times(store, 92, 103, 195);
    cut(store, 133, 152);
    assert_times(store, 73, 103, 195);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM held WHERE host='box1'"),
        2);
    cut(store, 195, 300); /* nothing is there */
    assert_times(store, 73, 103, 195);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held WHERE"
                                           " start_utc-start_ns<>epoch"),
                     0);
    assert_int_equal(fixture_number(store,
                                    "SELECT sum(end_ns-start_ns) FROM held"
                                    " WHERE host='box2'"),
                     100);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(whole_check(store_db(store), &err), 0);
    store_close(store);
}

static void a_host_may_lose_all_of_its_time(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err;

    fixture_run(store, UTC);
    put(store, "box1", 100, 200);
    cut(store, 100, 200);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM interval"), 0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held"), 0);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(whole_check(store_db(store), &err), 0);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_time_is_cut_from_rows_of_a_host,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_host_may_lose_all_of_its_time,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
