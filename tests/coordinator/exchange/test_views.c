/* test_views.c - the SQL views say what the report says */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <math.h>
#include <sqlite3.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/exchange/views.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define HOUR_NS INT64_C(3600000000000)
#define UTC INT64_C(1700000000000000000)

static void hold(struct store *store, const char *phase, int64_t hour,
                 double rate)
{
    struct err err = { "" };

    if (store_held_put(store,
                       &(struct store_held){ .host = "gpu1",
                                             .epoch = UTC,
                                             .start_ns = hour * HOUR_NS,
                                             .end_ns = (hour + 1) * HOUR_NS,
                                             .rate_usd_per_h = rate,
                                             .phase = phase },
                       &err) < 0)
        fail_msg("%s", err.text);
}

/* The views are temporary: they are made in the store's own connection. */
static void make_views(struct store *store)
{
    struct err err = { "" };
    char *text = NULL, *message = NULL;
    size_t len = 0;
    FILE *script = open_memstream(&text, &len);

    assert_non_null(script);
    if (views_script(store, script, &err) < 0)
        fail_msg("%s", err.text);
    fclose(script);
    if (sqlite3_exec(store_db(store), text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    free(text);
}

static void assert_row(struct store *store, const char *sql, const char *row)
{
    sqlite3_stmt *stmt;

    assert_int_equal(sqlite3_prepare_v2(store_db(store), sql, -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(stmt, 0), row);
    sqlite3_finalize(stmt);
}

/* Of each host, the categories are all that it was held for. */
static void the_proof_is_a_category(void **state)
{
    struct store *store = report_fixture(*state);

    hold(store, "proof", 0, 2);
    make_views(store);
    assert_row(store,
               "SELECT seconds || ' ' || usd FROM fa_host_time"
               " WHERE host='gpu1' AND category='proof'",
               "3600.0 2.0");
    assert_row(store,
               "SELECT count(*) FROM (SELECT host, sum(seconds) AS s FROM"
               " fa_host_time GROUP BY host) t JOIN (SELECT host,"
               " sum(seconds) AS s FROM fa_held GROUP BY host) h USING (host)"
               " WHERE abs(t.s - h.s) < 1e-6",
               "2");
    store_close(store);
}

/* A part of the dollars is not all of them. */
static void time_without_a_rate_has_no_dollars(void **state)
{
    struct store *store = report_fixture(*state);

    hold(store, "proof", 0, 2);
    hold(store, "proof", 1, NAN);
    make_views(store);
    assert_row(store,
               "SELECT seconds || ' ' || ifnull(usd, 'unknown') FROM"
               " fa_host_time WHERE host='gpu1' AND category='proof'",
               "7200.0 unknown");
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_proof_is_a_category),
        TEST(time_without_a_rate_has_no_dollars),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
