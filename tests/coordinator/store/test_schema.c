/* test_schema.c - databases of older formats, brought up to date */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/store/sql.h"
#include "tests/coordinator/store/store_fixture.h"

static void make_format_1(const char *path)
{
    const char *fixture =
        FA_SOURCE_DIR "/tests/fixtures/databases/format_1.sql";
    FILE *file = fopen(fixture, "r");
    char *text = mem_new(1 << 16, 1);
    struct sqlite3 *db;
    struct err err = { "" };

    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sql_run(db, text, &err) < 0)
        fail_msg("%s", err.text);
    sqlite3_close(db);
    free(text);
}

/* Names and columns of all tables, in order. */
static char *layout(struct store *store)
{
    struct sqlite3_stmt *stmt;
    struct err err = { "" };
    char *text;

    if (sql_prepare(store_db(store),
                    "SELECT group_concat(line, char(10)) FROM (SELECT"
                    " t.name||'.'||c.name||' '||c.type||c.\"notnull\"||c.pk"
                    " AS line FROM sqlite_schema t, pragma_table_info(t.name)"
                    " c ORDER BY t.name, c.cid)",
                    &stmt, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(sql_step(stmt, &err), 1);
    text = mem_strdup(sql_text(stmt, 0));
    sql_free(stmt);
    return text;
}

static void an_older_database_comes_to_look_like_a_new_one(void **state)
{
    struct store *store;
    char *upgraded, *fresh, *other = mem_printf("%s.fresh", (char *)*state);

    make_format_1(*state);
    store = fixture_open(*state, STORE_WRITE);
    upgraded = layout(store);
    store_close(store);
    store = fixture_open(other, STORE_CREATE);
    fresh = layout(store);
    store_close(store);
    assert_string_equal(upgraded, fresh);
    for (const char *const *end = (const char *const[]){ "", ".lock", NULL };
         *end; end++) {
        char *name = mem_printf("%s%s", other, *end);

        assert_int_equal(remove(name), 0);
        free(name);
    }
    free(other);
    free(upgraded);
    free(fresh);
}

static void old_results_say_how_they_were_sampled(void **state)
{
    struct store *store;

    make_format_1(*state);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " sampling='fixed' AND l2='unknown'"
                                           " AND rejected='[]'"),
                     2);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " sampling='none' AND l2='none'"),
                     1);
    store_close(store);
}

/* n3 was changed behind our back before. */
static void a_row_that_was_wrong_stays_wrong(void **state)
{
    struct store *store;
    struct verify verify;

    make_format_1(*state);
    store = fixture_open(*state, STORE_WRITE);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].text,
                        "result n3: the row was changed after it was written");
    verify_fini(&verify);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_older_database_comes_to_look_like_a_new_one),
        TEST(old_results_say_how_they_were_sampled),
        TEST(a_row_that_was_wrong_stays_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
