/* test_sql_sandbox.c - what a sandbox evaluates, and how it is read */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "coordinator/sandbox/sql_sandbox.h"

static struct sql_sandbox sandbox;

static int set_up(void **state)
{
    struct err err;

    (void)state;
    return sql_sandbox_open(&sandbox, &err);
}

static int tear_down(void **state)
{
    (void)state;
    sql_sandbox_close(&sandbox);
    return 0;
}

static sqlite3_stmt *prepared(const char *sql)
{
    sqlite3_stmt *stmt;
    struct err err;
    int offset;

    if (sql_sandbox_prepare(&sandbox, sql, &stmt, &offset, &err) < 0)
        fail_msg("%s", err.text);
    return stmt;
}

static void a_column_is_found_by_its_name(void **state)
{
    sqlite3_stmt *stmt = prepared("SELECT 5 AS number, 6, (7) AS warned");

    (void)state;
    assert_int_equal(sql_sandbox_column(stmt, "number"), 0);
    assert_int_equal(sql_sandbox_column(stmt, "warned"), 2);
    assert_int_equal(sql_sandbox_column(stmt, "points"), -1);
    sqlite3_finalize(stmt);
}

static void two_statements_are_refused_at_the_second(void **state)
{
    sqlite3_stmt *stmt;
    struct err err;
    int offset;

    (void)state;
    assert_int_equal(sql_sandbox_prepare(&sandbox, "SELECT 1; SELECT 2", &stmt,
                                         &offset, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "more than one statement");
    assert_int_equal(offset, 9);
}

static void after_it_is_shut_it_only_selects(void **state)
{
    sqlite3_stmt *stmt;
    struct err err;
    int offset;

    (void)state;
    assert_int_equal(sql_sandbox_run(&sandbox, "CREATE TABLE t(v)", &err), 0);
    sql_sandbox_shut(&sandbox);
    sqlite3_finalize(prepared("SELECT v FROM t"));
    assert_int_equal(sql_sandbox_prepare(&sandbox, "INSERT INTO t VALUES(1)",
                                         &stmt, &offset, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "not authorized");
}

static int64_t used_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

/* Else a list that is read slowly would be late. */
static void its_time_is_that_in_which_the_thread_runs(void **state)
{
    int64_t before = used_ns();

    (void)state;
    assert_false(sql_sandbox_is_late(&sandbox));
    sql_sandbox_start_clock(&sandbox, 60);
    assert_true(sandbox.deadline_ns >= before + INT64_C(60000000000));
    assert_true(sandbox.deadline_ns <= used_ns() + INT64_C(60000000000));
    assert_false(sql_sandbox_is_late(&sandbox));
    sandbox.deadline_ns = 1;
    assert_true(sql_sandbox_is_late(&sandbox));
    sandbox.deadline_ns = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_found_by_its_name),
        cmocka_unit_test(two_statements_are_refused_at_the_second),
        cmocka_unit_test(its_time_is_that_in_which_the_thread_runs),
        cmocka_unit_test(after_it_is_shut_it_only_selects),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
