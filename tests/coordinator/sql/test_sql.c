#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "coordinator/sql/sql.h"

static char folder[40], path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa-sql-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/db", folder);
    return 0;
}

static int tear_down(void **state)
{
    char log[72];

    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(log, sizeof(log), "%s%s", path,
                 (const char *[]){ "", "-wal", "-shm" }[i]);
        (void)unlink(log);
    }
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static void limit_files(rlim_t bytes)
{
    const struct rlimit limit = { bytes, RLIM_INFINITY };

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Of a file that must not grow. */
static void refuses(const char *journal)
{
    struct sqlite3 *db;
    struct err err = { "" };

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sql_run(db, journal, &err), 0);
    assert_int_equal(sql_run(db, "CREATE TABLE a(b)", &err), 0);
    limit_files(100000);
    assert_int_equal(sql_run(db,
                             "BEGIN; INSERT INTO a VALUES(zeroblob(200000)); "
                             "COMMIT",
                             &err),
                     ERR_STORE);
    limit_files(RLIM_INFINITY);
    assert_string_equal(err.text,
                        "File too large: the file may not grow so large; raise "
                        "'ulimit -f', and run the same command again");
    sqlite3_close(db);
}

static void a_log_that_may_not_grow_is_named_with_its_remedy(void **state)
{
    (void)state;
    refuses("PRAGMA journal_mode=WAL");
}

static void so_is_the_file(void **state)
{
    (void)state;
    refuses("PRAGMA journal_mode=DELETE");
}

static void a_full_database_is_a_full_disk(void **state)
{
    struct sqlite3 *db;
    struct err err = { "" };

    (void)state;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sql_run(db, "CREATE TABLE a(b); PRAGMA max_page_count=2", &err), 0);
    assert_int_equal(
        sql_run(db, "INSERT INTO a VALUES(zeroblob(200000))", &err), ERR_STORE);
    assert_string_equal(err.text, "No space left on device: make room, and run "
                                  "the same command again");
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_log_that_may_not_grow_is_named_with_its_remedy, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(so_is_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_database_is_a_full_disk, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
