/* test_migration.c - all rows of an older database come through, also if the
 * program is killed meanwhile */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/store/old_format.h"
#include "tests/coordinator/store/store_fixture.h"

/* Rows of all tables that format 7 rebuilds, as one text. */
static char *content(struct store *store)
{
    static const char text[] =
        "SELECT group_concat(line, char(10)) FROM ("
        "SELECT checksum_row(r.rowid, r.nonce, r.checksum) AS line FROM result "
        "r"
        " UNION ALL SELECT checksum_row(b.rowid, b.nonce, b.checksum)"
        "  FROM build b"
        " UNION ALL SELECT checksum_row(epoch, machine, ending) FROM run"
        " UNION ALL SELECT checksum_row(id, key, spec, settings) FROM sweep"
        " UNION ALL SELECT checksum_row(config, shape, outcome, nonce, "
        "median_s)"
        "  FROM outcome"
        " UNION ALL SELECT checksum_row(epoch, id, config, host, ending)"
        "  FROM lease"
        " UNION ALL SELECT checksum_row(host, start_ns, category, lease)"
        "  FROM interval"
        " UNION ALL SELECT checksum_row(id, level, text) FROM event"
        " UNION ALL SELECT checksum_row(pass, seed, cut, ending) FROM contest"
        " UNION ALL SELECT checksum_row(pass, position, config, role)"
        "  FROM contestant"
        " UNION ALL SELECT checksum_row(position, kind, config, time_s)"
        "  FROM step UNION ALL SELECT checksum_row(folder, settings)"
        "  FROM request)";
    struct sqlite3_stmt *stmt;
    struct err err;
    char *rows;

    assert_int_equal(sql_prepare(store_db(store), text, &stmt, &err), 0);
    assert_int_equal(sql_step(stmt, &err), 1);
    rows = mem_strdup(sql_text(stmt, 0));
    sql_free(stmt);
    return rows;
}

/* Of a file of this format, which stays as it is. */
static char *read_content(const char *path, int format)
{
    struct store *store = fixture_open(path, STORE_READ);
    char *rows = content(store);

    store_close(store);
    assert_int_equal(old_format_of(path), format);
    return rows;
}

static void
to_read_format_6_changes_nothing_to_write_keeps_its_rows(void **state)
{
    char *before, *after;

    old_format_make(*state, 6);
    old_format_change(*state, "PRAGMA journal_mode=WAL");
    before = read_content(*state, 6);
    assert_non_null(strchr(before, '\n'));
    store_close(fixture_open(*state, STORE_WRITE));
    after = read_content(*state, OLD_FORMAT_NEWEST);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static int steps_left;

static int die_in_time(void *arg)
{
    (void)arg;
    if (--steps_left == 0)
        raise(SIGKILL);
    return 0;
}

static int watch(sqlite3 *db, char **text, const void *api)
{
    (void)text, (void)api;
    sqlite3_progress_handler(db, 100, die_in_time, NULL);
    return SQLITE_OK;
}

/* 1 when it was killed before it was done. */
static bool killed_after(const char *path, int steps)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct store *store;
        struct err err;

        steps_left = steps;
        sqlite3_auto_extension((void (*)(void))watch);
        _exit(store_open(path, STORE_WRITE, &store, &err) < 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void a_migration_that_is_killed_starts_again(void **state)
{
    char *before, *now;
    int killed = 0;

    old_format_make(*state, 6);
    old_format_change(*state, "PRAGMA journal_mode=WAL");
    before = read_content(*state, 6);
    for (int steps = 1; killed_after(*state, steps); steps += 1 + steps / 4) {
        now = read_content(*state, 6);
        assert_string_equal(now, before);
        free(now);
        killed++;
    }
    assert_true(killed > 5);
    now = read_content(*state, OLD_FORMAT_NEWEST);
    assert_string_equal(now, before);
    free(now);
    free(before);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(to_read_format_6_changes_nothing_to_write_keeps_its_rows),
        TEST(a_migration_that_is_killed_starts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
