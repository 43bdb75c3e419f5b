#include "tests/coordinator/store/old_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"

void old_format_make(const char *path, int format)
{
    char *fixture = mem_printf(
        FA_SOURCE_DIR "/tests/fixtures/databases/format_%d.sql", format);
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
    free(fixture);
}

static int64_t number(const char *path, const char *sql)
{
    struct sqlite3 *db;
    struct err err = { "" };
    int64_t is;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sql_number(db, sql, &is, &err, ""), 0);
    sqlite3_close(db);
    return is;
}

int64_t old_format_of(const char *path)
{
    return number(path, "PRAGMA user_version");
}

int64_t old_format_page(const char *path, const char *table)
{
    char *sql = mem_printf("SELECT rootpage FROM sqlite_schema WHERE"
                           " type='table' AND name='%s'",
                           table);
    int64_t page = number(path, sql);

    free(sql);
    return page;
}

void old_format_change(const char *path, const char *sql)
{
    struct sqlite3 *db;
    struct err err = { "" };

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sql_run(db, sql, &err) < 0)
        fail_msg("%s", err.text);
    sqlite3_close(db);
}
