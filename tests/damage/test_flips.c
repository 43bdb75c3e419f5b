/* test_flips.c - F32: one flipped bit anywhere in a finished sweep's database
 *
 *     test_damage_flips [COUNT [SEED]]
 *
 * First in a value of a row, then in the bytes of the file.  Each one is found
 * by the reader and by 'verify', or changes no answer.
 */
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
#include "coordinator/sql/sql.h"
#include "coordinator/stats/prng.h"
#include "coordinator/store/whole.h"
#include "tests/damage/answers.h"

static int count = 120;
static uint64_t seed = 1;

struct sound {
    char *path, *bytes, *answers; /* of the sound database, at this path */
    size_t len;
};

static void make(const char *path, struct sound *out)
{
    struct err err = { "" };

    answers_make(path);
    out->path = mem_strdup(path);
    out->bytes = answers_read(path, &out->len);
    out->answers = answers_of(path, &err);
    if (!out->answers)
        fail_msg("%s", err.text);
}

static void drop(struct sound *sound)
{
    free(sound->path);
    free(sound->bytes);
    free(sound->answers);
}

/* 1: refused; 0: answered as the sound one. */
static int look(const struct sound *sound, const char *what)
{
    struct err err = { "" };
    char *answers = answers_of(sound->path, &err);
    bool same = answers && strcmp(answers, sound->answers) == 0;

    free(answers);
    if (answers && !same)
        fail_msg("%s: another answer in silence", what);
    if (!answers && answers_found(sound->path) == 0)
        fail_msg("%s: 'verify' does not find what a reader does: %s", what,
                 err.text);
    return !answers;
}

/* ---- in a value */

struct place {
    const char *table;
    char *column;
    int64_t row; /* how many are before it */
};

static int64_t number(sqlite3 *db, char *sql)
{
    struct err err = { "" };
    int64_t n;

    if (sql_number(db, sql, &n, &err, "") < 0)
        fail_msg("%s", err.text);
    free(sql);
    return n;
}

static struct place choose(sqlite3 *db, struct prng *prng)
{
    struct place place;
    int64_t columns;
    sqlite3_stmt *stmt;
    struct err err;
    char *sql;

    do {
        place.table = whole_tables[prng_below(prng, WHOLE_TABLES)].name;
        place.row =
            number(db, mem_printf("SELECT count(*) FROM %s", place.table));
    } while (place.row == 0);
    place.row = (int64_t)prng_below(prng, (uint64_t)place.row);
    columns = number(db, mem_printf("SELECT count(*) FROM "
                                    "pragma_table_info('%s')",
                                    place.table));
    sql = mem_printf("SELECT name FROM pragma_table_info('%s') WHERE cid=%d",
                     place.table, (int)prng_below(prng, (uint64_t)columns));
    assert_int_equal(sql_prepare(db, sql, &stmt, &err), 0);
    assert_int_equal(sql_step(stmt, &err), 1);
    place.column = mem_strdup(sql_text(stmt, 0));
    sql_free(stmt);
    free(sql);
    return place;
}

/* The value with one bit flipped, as an SQL literal; NULL becomes 1. */
static char *flipped(sqlite3 *db, const struct place *place, struct prng *prng)
{
    char *sql = mem_printf("SELECT %s FROM %s LIMIT 1 OFFSET %lld",
                           place->column, place->table, (long long)place->row);
    uint64_t bits = UINT64_C(1) << prng_below(prng, 63), was;
    sqlite3_stmt *stmt;
    struct err err;
    double real;
    char *out;

    assert_int_equal(sql_prepare(db, sql, &stmt, &err), 0);
    assert_int_equal(sql_step(stmt, &err), 1);
    free(sql);
    switch (sqlite3_column_type(stmt, 0)) {
    case SQLITE_INTEGER:
        out =
            mem_printf("%lld", (long long)((uint64_t)sql_int(stmt, 0) ^ bits));
        break;
    case SQLITE_FLOAT:
        real = sql_real(stmt, 0);
        memcpy(&was, &real, sizeof(was));
        was ^= bits;
        memcpy(&real, &was, sizeof(real));
        out = mem_printf("%.17g", real);
        break;
    case SQLITE_TEXT: {
        struct sql_value row[SQL_VALUES_MAX];
        size_t at, n = sql_row(stmt, row);
        char *hex;

        assert_int_equal(n, 1);
        n = row[0].len;
        if (n == 0) {
            out = mem_strdup("'x'");
            break;
        }
        at = prng_below(prng, n);
        hex = mem_new(2 * n + 1, 1);
        for (size_t i = 0; i < n; i++)
            snprintf(hex + 2 * i, 3, "%02x",
                     (unsigned char)(row[0].text[i] ^
                                     (i == at ? 1 << prng_below(prng, 8) : 0)));
        out = mem_printf("CAST(x'%s' AS TEXT)", hex);
        free(hex);
        break;
    }
    default:
        out = mem_strdup("1");
    }
    sql_free(stmt);
    return out;
}

/* Which row it is: by its rowid, or by all columns of its key. */
static char *where(sqlite3 *db, const struct place *place)
{
    bool has_rowid =
        sqlite3_table_column_metadata(db, NULL, place->table, "rowid", NULL,
                                      NULL, NULL, NULL, NULL) == SQLITE_OK;
    size_t i = 0;

    while (strcmp(whole_tables[i].name, place->table) != 0)
        i++;
    return has_rowid ? mem_printf("rowid=(SELECT rowid FROM %s LIMIT 1 OFFSET "
                                  "%lld)",
                                  place->table, (long long)place->row)
                     : mem_printf("(%s)=(SELECT %s FROM %s LIMIT 1 OFFSET "
                                  "%lld)",
                                  whole_tables[i].key, whole_tables[i].key,
                                  place->table, (long long)place->row);
}

/* 0: the value cannot be stored (it is another row's key). */
static int flip_value(const char *path, struct prng *prng, char **what)
{
    struct place place;
    sqlite3 *db;
    char *value, *row, *sql;
    int rc;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF;"
                     "PRAGMA ignore_check_constraints=ON",
                     NULL, NULL, NULL),
        SQLITE_OK);
    place = choose(db, prng);
    value = flipped(db, &place, prng);
    row = where(db, &place);
    sql = mem_printf("UPDATE %s SET %s=%s WHERE %s", place.table, place.column,
                     value, row);
    rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    *what = sql;
    free(place.column);
    free(value);
    free(row);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return rc == SQLITE_OK;
}

static void a_flipped_bit_of_any_value_is_found(void **state)
{
    struct sound sound;
    struct prng prng;
    int flips = 0;

    make(*state, &sound);
    prng_init(&prng, seed);
    for (int i = 0; i < count; i++) {
        char *what;

        answers_remove(sound.path);
        answers_write(sound.path, sound.bytes, sound.len);
        if (flip_value(sound.path, &prng, &what)) {
            flips++;
            if (!look(&sound, what))
                fail_msg("%s: not found", what);
        }
        free(what);
    }
    assert_true(flips > count * 9 / 10);
    drop(&sound);
}

/* ---- in the file */

static void a_flipped_bit_of_the_file_is_found_or_means_nothing(void **state)
{
    struct sound sound;
    struct prng prng;
    int refused = 0;

    make(*state, &sound);
    prng_init(&prng, seed + 1);
    for (int i = 0; i < count; i++) {
        /* every fourth in the header and the schema, which are small */
        size_t at = prng_below(&prng, i % 4 ? sound.len : 8192);
        int bit = (int)prng_below(&prng, 8);
        char *what = mem_printf("bit %d of byte %zu", bit, at);

        sound.bytes[at] = (char)(sound.bytes[at] ^ 1 << bit);
        answers_remove(sound.path);
        answers_write(sound.path, sound.bytes, sound.len);
        sound.bytes[at] = (char)(sound.bytes[at] ^ 1 << bit);
        refused += look(&sound, what);
        free(what);
    }
    assert_true(refused > count / 10); /* pages have free space, too */
    drop(&sound);
}

int main(int argc, char *argv[])
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, answers_setup, answers_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_flipped_bit_of_any_value_is_found),
        TEST(a_flipped_bit_of_the_file_is_found_or_means_nothing),
    };

    if (argc > 1)
        count = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
