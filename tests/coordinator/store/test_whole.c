/* test_whole.c - every change of any column of any table is found */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store_acquisition.h"
#include "coordinator/store/store_contest.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/whole.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC FIXTURE_EPOCH

/* What lies from here on in a file cannot be read; 0: all can. */
static int64_t unread_from;

/* Not from unistd.h: with _FORTIFY_SOURCE they are inline there.  SQLite calls
 * one of them. */
ssize_t pread(int fd, void *out, size_t n, int64_t at);
ssize_t pread64(int fd, void *out, size_t n, int64_t at);
long syscall(long number, ...);

ssize_t pread(int fd, void *out, size_t n, int64_t at)
{
    if (unread_from > 0 && at >= unread_from) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, out, n, at);
}

ssize_t pread64(int fd, void *out, size_t n, int64_t at)
{
    return pread(fd, out, n, at);
}

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void put_asked(struct store *store)
{
    struct store_request request = { "/home/ada", "sweep.json", "",
                                     "cuda",      "sm_89",      "{}" };
    struct store_gate gate = { 1, 0, "smem", "reject", "A > 1", "why", 3, -1 };
    struct store_shape shape = { 1, 0, "n16m", "{\"N\":1}", 0.5, NULL };
    struct store_step step = { 1, 0, "timed", FIXTURE_KEY, 0, 0, 0.25 };
    struct err err = { "" };

    ok(store_request_put(store, &request, &err), &err);
    ok(store_gate_put(store, &gate, &err), &err);
    ok(store_shape_put(store, &shape, &err), &err);
    ok(store_step_put(store, &step, &err), &err);
}

static void put_work(struct store *store)
{
    struct store_gpu gpu = { "GPU-1", "gpu1", 0, "NVIDIA L4", "550", "{}" };
    struct store_lease lease = { .epoch = UTC,
                                 .id = 1,
                                 .config = FIXTURE_KEY,
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .host = "gpu1",
                                 .leased_utc = 7 };
    struct store_interval interval = { "gpu1", UTC, 10, 20, 30, "idle", 1 };
    struct store_event event = { 1, "W", "LEASE-LOST", "gone" };
    struct err err = { "" };

    ok(store_gpu_put(store, &gpu, &err), &err);
    ok(store_lease_put(store, &lease, &err), &err);
    ok(store_lease_end(store, UTC, 1, "done", 8, &err), &err);
    ok(store_interval_put(store, &interval, &err), &err);
    interval.end_ns = 50;
    interval.start_utc = 31;
    ok(store_interval_put(store, &interval, &err), &err);
    ok(store_event(store, &event, &err), &err);
    ok(store_event(store, &event, &err), &err);
}

static void put_facts(struct store *store)
{
    struct store_build build = fixture_build("b1", FIXTURE_KEY);
    struct store_result result = fixture_result("n1", FIXTURE_KEY);
    struct store_tool tool = { .nonce = "t1",
                               .epoch = UTC,
                               .purpose = "external",
                               .outcome = "ran",
                               .status = -1 };
    struct store_outcome outcome = { FIXTURE_KEY, "n16m", "5c", "3e", "crash",
                                     "lost",      "n1",   0.5,  1,    2 };
    struct err err = { "" };

    ok(store_build_put(store, &build, &err), &err);
    ok(store_result_put(store, &result, &err), &err);
    ok(store_tool_put(store, &tool, &err), &err);
    ok(store_outcome_put(store, &outcome, &err), &err);
    outcome.outcome = "correct";
    outcome.median_s = 0.25;
    ok(store_outcome_put(store, &outcome, &err), &err);
}

static void put_contest(struct store *store)
{
    struct store_contest contest = {
        .pass = 1, .sweep = 1, .kind = "confirm", .seed = 1, .alpha = 0.05
    };
    struct store_contestant contestant = { .pass = 1,
                                           .config = FIXTURE_KEY,
                                           .source_key = "5c",
                                           .role = "baseline",
                                           .reason = "",
                                           .proof_launches = 240 };
    struct store_contest_shape shape = { 1, 0, "n16m", "3e" };
    struct err err = { "" };

    ok(store_contest_put(store, &contest, &err), &err);
    ok(store_contestant_put(store, &contestant, &err), &err);
    contestant.reason = "the only one";
    ok(store_contestant_put(store, &contestant, &err), &err);
    ok(store_contest_shape_put(store, &shape, &err), &err);
    ok(store_contest_end(store, 1, "done", 5, &err), &err);
}

static void put_acquisition(struct store *store)
{
    struct store_acquisition row = { .id = "fa-3f2a91c0",
                                     .host = "gpu7",
                                     .state = "starting",
                                     .start_command = "./rent gpu7",
                                     .stop_command = "./end gpu7",
                                     .folder = "/home/ada",
                                     .rate_usd_per_h = 0.68,
                                     .started_utc = UTC };
    struct err err = { "" };

    ok(store_acquisition_put(store, &row, &err), &err);
    snprintf(row.state, sizeof(row.state), "acquired");
    row.acquired_utc = UTC + 90;
    ok(store_acquisition_put(store, &row, &err), &err);
}

static void put_ledger(struct store *store)
{
    struct store_held held = { .host = "box1",
                               .epoch = UTC,
                               .end_ns = 5,
                               .rate_usd_per_h = 0.68,
                               .phase = "search" };
    struct store_ready ready = { "box1", "GPU-1", 3,        "550.54",
                                 "b1",   "1",     "nvcc 13" };
    struct err err = { "" };

    ok(store_held_put(store, &held, &err), &err);
    held.end_ns = 9;
    ok(store_held_put(store, &held, &err), &err);
    ok(store_ready_put(store, &ready, &err), &err);
    ready.boot_id = "b2";
    ok(store_ready_put(store, &ready, &err), &err);
}

/* A row of every table, put and changed as a sweep does. */
static struct store *full(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct store_sweep sweep = fixture_sweep("k1");
    struct err err = { "" };
    int64_t id;

    fixture_owners(store, FIXTURE_KEY);
    put_asked(store);
    put_work(store);
    put_facts(store);
    put_contest(store);
    put_acquisition(store);
    put_ledger(store);
    sweep.passed = 29;
    sweep.created_utc++;
    ok(store_sweep_put(store, &sweep, &id, &err), &err);
    ok(store_run_end(store, UTC, "done", 9, &err), &err);
    ok(store_commit(store, &err), &err);
    return store;
}

static void what_a_sweep_writes_is_whole(void **state)
{
    struct store *store = full(*state);
    struct err err = { "of another\n" }; /* which is left as it is */

    for (size_t i = 0; i < WHOLE_TABLES; i++) {
        char *sql = mem_printf("SELECT count(*) FROM %s", whole_tables[i].name);

        assert_true(fixture_number(store, sql) > 0);
        free(sql);
    }
    ok(whole_check(store_db(store), &err), &err);
    assert_string_equal(err.text, "of another\n");
    store_close(store);
}

static void every_table_is_one_of_them(void **state)
{
    struct store *store = full(*state);

    assert_int_equal(fixture_number(store, "SELECT count(*) FROM sqlite_schema"
                                           " WHERE type='table' AND"
                                           " name<>'tally'"),
                     WHOLE_TABLES);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM tally WHERE"
                                           " row_count>0"),
                     WHOLE_TABLES);
    store_close(store);
}

/* Change one column of all rows of a table, look, and change it back. */
static void change(struct store *store, const char *table, const char *column)
{
    char *sql = mem_printf("BEGIN; UPDATE %s SET %s=CASE typeof(%s)"
                           " WHEN 'text' THEN %s||'x' WHEN 'null' THEN 1"
                           " ELSE %s+1000 END",
                           table, column, column, column, column);
    char *expected = mem_printf("the row '%s", table);
    struct err err = { "" };

    ok(sql_run(store_db(store), sql, &err), &err);
    if (whole_check(store_db(store), &err) != ERR_STORE)
        fail_msg("%s.%s may change", table, column);
    /* a word of a vocabulary is found before */
    if (!strstr(err.text, expected) && !strstr(err.text, "CHECK constraint"))
        fail_msg("%s.%s: %s", table, column, err.text);
    assert_non_null(strstr(err.text, "'fa-coord recover'"));
    ok(sql_run(store_db(store), "ROLLBACK", &err), &err);
    free(sql);
    free(expected);
}

static void a_change_of_any_column_is_found(void **state)
{
    struct store *store = full(*state);
    struct sqlite3_stmt *stmt;
    struct err err = { "" };
    int n = 0;

    ok(sql_run(store_db(store),
               "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON",
               &err),
       &err);
    for (size_t i = 0; i < WHOLE_TABLES; i++) {
        ok(sql_prepare(store_db(store), "SELECT name FROM pragma_table_info(?)",
                       &stmt, &err),
           &err);
        ok(sql_start(stmt, &err, "s", whole_tables[i].name), &err);
        for (; sql_step(stmt, &err) == 1; n++)
            change(store, whole_tables[i].name, sql_text(stmt, 0));
        sql_free(stmt);
    }
    assert_true(n > 150);
    store_close(store);
}

/* Delete a row of a table, look, and bring it back. */
static void delete (struct store *store, const char *table)
{
    char *sql = mem_printf("BEGIN; DELETE FROM %s WHERE checksum=(SELECT"
                           " min(checksum) FROM %s)",
                           table, table);
    char *expected = mem_printf("table '%s': 1 of ", table);
    struct err err = { "" };

    ok(sql_run(store_db(store), sql, &err), &err);
    if (whole_check(store_db(store), &err) != ERR_STORE)
        fail_msg("a row of %s may be deleted", table);
    if (strncmp(err.text, expected, strlen(expected)) != 0)
        fail_msg("%s: %s", table, err.text);
    ok(sql_run(store_db(store), "ROLLBACK", &err), &err);
    free(sql);
    free(expected);
}

static void a_deleted_row_of_any_table_is_found(void **state)
{
    struct store *store = full(*state);
    struct err err = { "" };

    ok(sql_run(store_db(store), "PRAGMA foreign_keys=OFF", &err), &err);
    for (size_t i = 0; i < WHOLE_TABLES; i++)
        delete (store, whole_tables[i].name);
    ok(whole_check(store_db(store), &err), &err);
    store_close(store);
}

/* One bit of the schema's text may do this. */
static void another_name_of_a_column_is_found(void **state)
{
    struct store *store = full(*state);
    struct err err = { "" };

    ok(sql_run(store_db(store), "ALTER TABLE contest RENAME target TO tarfet",
               &err),
       &err);
    assert_int_equal(whole_check(store_db(store), &err), ERR_STORE);
    assert_non_null(
        strstr(err.text, "its tables or columns have other names; "));
    store_close(store);
}

/* A disk that fails is no damage of the file: a copy of it would not help. */
static void what_cannot_be_read_is_not_called_damaged(void **state)
{
    struct store *store = full(*state);
    struct err err = { "" };
    struct stat st;

    store_close(store);
    assert_int_equal(stat(*state, &st), 0);
    store = fixture_open(*state, STORE_READ);
    unread_from = st.st_size / 2;
    assert_int_equal(whole_check(store_db(store), &err), ERR_STORE);
    unread_from = 0;
    assert_non_null(strstr(err.text, "Input/output error"));
    assert_null(strstr(err.text, "damaged"));
    store_close(store);
}

/* As 'verify' names it; of a damaged table there may be less. */
static void a_row_is_named_by_the_columns_of_its_key(void **state)
{
    static const char *const queries[] = { "SELECT 5 AS a",
                                           "SELECT 5 AS a, 6 AS b",
                                           "SELECT 5 AS a, 6 AS b, 7 AS c" };
    static const char *const names[] = { "pair 5", "pair 5 6", "pair 5 6" };
    const struct whole_table table = { "pair", "a, b", 2 };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err = { "" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct sqlite3_stmt *stmt;
        struct row_cells row;
        char *name;

        ok(sql_prepare(store_db(store), queries[i], &stmt, &err), &err);
        assert_int_equal(sql_step(stmt, &err), 1);
        row_cells_read(stmt, &row);
        name = whole_row_name(&table, &row);
        assert_string_equal(name, names[i]);
        free(name);
        sql_free(stmt);
    }
    store_close(store);
}

/* It is what SQLite says of the file, and comes before what we do. */
static void what_sqlite_finds_is_said_in_its_words(void **state)
{
    struct store *store = full(*state);
    struct err err = { "" };

    ok(sql_run(store_db(store),
               "PRAGMA ignore_check_constraints=ON;"
               "UPDATE run SET ending='gone'",
               &err),
       &err);
    fixture_seal(store, "run");
    ok(sql_run(store_db(store), "PRAGMA ignore_check_constraints=OFF", &err),
       &err);
    assert_int_equal(whole_check(store_db(store), &err), ERR_STORE);
    assert_string_equal(
        err.text, "its pages are damaged (CHECK constraint failed in run); "
                  "'fa-coord verify' lists what is damaged, 'fa-coord recover' "
                  "copies the rest");
    store_close(store);
}

/* What was changed behind our back does not become sound by the end of a lease,
 * a run or a confirmation. */
static void what_does_not_hold_ends_without_holding(void **state)
{
    struct store *store = full(*state);
    struct store_lease lease = { .epoch = UTC,
                                 .id = 2,
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .host = "gpu1" };
    struct err err = { "" };

    ok(store_lease_put(store, &lease, &err), &err);
    ok(sql_run(store_db(store), "UPDATE lease SET gpu='x' WHERE id=2", &err),
       &err);
    ok(store_lease_end(store, UTC, 2, "done", 8, &err), &err);
    assert_int_equal(whole_check(store_db(store), &err), ERR_STORE);
    assert_non_null(strstr(err.text,
                           "the row 'lease 1700000000000000000 2' is not as it "
                           "was written; 'fa-coord verify' lists what"));
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_a_sweep_writes_is_whole),
        TEST(every_table_is_one_of_them),
        TEST(a_change_of_any_column_is_found),
        TEST(a_deleted_row_of_any_table_is_found),
        TEST(another_name_of_a_column_is_found),
        TEST(what_cannot_be_read_is_not_called_damaged),
        TEST(a_row_is_named_by_the_columns_of_its_key),
        TEST(what_sqlite_finds_is_said_in_its_words),
        TEST(what_does_not_hold_ends_without_holding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
