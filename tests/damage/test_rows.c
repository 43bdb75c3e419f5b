/* test_rows.c - F32: rows of a finished sweep's database that are deleted,
 * doubled or as they were before
 *
 *     test_damage_rows [COUNT [SEED]]
 *
 * Each row holds, so only the counts of the tables tell.  What another program
 * deletes or adds is found by the reader and by 'verify'; the copy that
 * 'recover' makes is sound.  A page as an earlier commit left it, because its
 * last write was lost, changes no answer in silence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/inspect/recover.h"
#include "coordinator/sql/sql.h"
#include "coordinator/stats/prng.h"
#include "coordinator/store/store.h"
#include "coordinator/store/whole.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/damage/answers.h"

#define PAGE 4096

static int count = 60;
static uint64_t seed = 1;

static void run(struct store *store, const char *sql)
{
    struct err err = { "" };

    if (sql_run(store_db(store), sql, &err) < 0)
        fail_msg("%s: %s", sql, err.text);
}

static char *text_of(struct store *store, char *sql)
{
    struct sqlite3_stmt *stmt;
    struct err err = { "" };
    char *text;

    if (sql_prepare(store_db(store), sql, &stmt, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(sql_step(stmt, &err), 1);
    text = mem_strdup(sql_text(stmt, 0));
    sql_free(stmt);
    free(sql);
    return text;
}

/* ---- rows */

/* A table with rows, and how many. */
static const char *choose(struct store *store, struct prng *prng, int64_t *rows)
{
    const char *table;

    do {
        char *sql;

        table = whole_tables[prng_below(prng, WHOLE_TABLES)].name;
        sql = mem_printf("SELECT count(*) FROM %s", table);
        *rows = fixture_number(store, sql);
        free(sql);
    } while (*rows == 0);
    return table;
}

static char *delete_rows(const char *table, int64_t row, int64_t rows)
{
    return mem_printf("DELETE FROM %s WHERE checksum IN (SELECT checksum FROM"
                      " %s LIMIT %lld OFFSET %lld)",
                      table, table, (long long)rows, (long long)row);
}

/* Once more under another key, with the checksum of that; it counts for
 * nothing, else an index would refuse it. */
static char *copy(struct store *store, const char *table, int64_t row)
{
    char *columns = text_of(
        store,
        mem_printf("SELECT group_concat(CASE WHEN name='counted' THEN '0'"
                   " WHEN cid=0 OR '%s'='sweep' AND name='key' THEN"
                   "  iif(type='TEXT', name||'||''x''', name||'+1000000')"
                   " ELSE name END) FROM pragma_table_info('%s')"
                   " WHERE name<>'checksum'",
                   table, table));
    bool digits = strcmp(table, "build") == 0 || strcmp(table, "result") == 0 ||
                  strcmp(table, "tool") == 0;
    char *sql =
        mem_printf("INSERT INTO %s SELECT %s, %s(%s) FROM %s LIMIT 1"
                   " OFFSET %lld",
                   table, columns, digits ? "checksum_row" : "checksum_short",
                   columns, table, (long long)row);

    free(columns);
    return sql;
}

/* Change rows on a connection that does not count them; says what was done. */
static char *hurt(const char *path, struct prng *prng)
{
    struct store *store = fixture_open(path, STORE_WRITE);
    int64_t rows, row;
    const char *table = choose(store, prng, &rows);
    char *sql;

    row = (int64_t)prng_below(prng, (uint64_t)rows);
    switch (prng_below(prng, 3)) {
    case 0:
        sql = delete_rows(table, row, 1);
        break;
    case 1:
        sql = delete_rows(table, row, rows);
        break;
    default:
        sql = copy(store, table, row);
    }
    run(store, "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON");
    run(store, sql);
    store_close(store);
    return sql;
}

static void recover_it(const char *path, const char *what)
{
    char *to = mem_printf("%s.copy", path);
    struct store *from = fixture_open(path, STORE_READ),
                 *made = fixture_open(to, STORE_CREATE);
    struct recover recover;
    struct err err = { "" };

    if (recover_run(from, made, &recover, &err) < 0)
        fail_msg("%s", err.text);
    if (!recover_is_hurt(&recover))
        fail_msg("%s: 'recover' does not say so", what);
    store_close(from);
    store_close(made);
    assert_int_equal(answers_found(to), 0);
    answers_remove(to);
    free(to);
}

static void rows_that_are_missing_or_too_many_are_found(void **state)
{
    struct prng prng;
    struct err err = { "" };
    char *bytes;
    size_t len;

    answers_make(*state);
    bytes = answers_read(*state, &len);
    prng_init(&prng, seed);
    for (int i = 0; i < count; i++) {
        char *what, *answers;

        answers_remove(*state);
        answers_write(*state, bytes, len);
        what = hurt(*state, &prng);
        answers = answers_of(*state, &err);
        if (answers)
            fail_msg("%s: not found", what);
        assert_non_null(strstr(err.text, "'fa-coord recover'"));
        assert_true(answers_found(*state) > 0);
        recover_it(*state, what);
        free(what);
    }
    free(bytes);
}

/* ---- pages */

struct moment {
    char *bytes, *answers;
    size_t len;
};

static struct moment moment_of(struct store *store, const char *path)
{
    struct moment moment;
    struct err err = { "" };

    run(store, "PRAGMA wal_checkpoint(TRUNCATE)");
    moment.bytes = answers_read(path, &moment.len);
    moment.answers = answers_of(path, &err);
    if (!moment.answers)
        fail_msg("%s", err.text);
    return moment;
}

/* The file in the middle of a sweep, and at its end. */
static void run_sweep(const char *path, struct moment moments[2])
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.763, 0.9 } };
    struct err err = { "" };

    scene_begin(&s, path, 2);
    scene_put_blocks(&s, SCENE_BLOCKS / 2);
    assert_int_equal(store_commit(s.store, &err), 0);
    moments[0] = moment_of(s.store, path);
    for (int block = SCENE_BLOCKS / 2 + 1; block <= SCENE_BLOCKS; block++)
        for (size_t i = 0; i < 3; i++)
            scene_put(&s, block, i, "correct");
    scene_end(&s, true);
    moments[1] = moment_of(s.store, path);
    scene_close(&s);
}

static void a_page_of_an_earlier_commit_gives_no_other_answer(void **state)
{
    struct moment moments[2];
    struct err err = { "" };
    int pages = 0, refused = 0;

    run_sweep(*state, moments);
    assert_string_not_equal(moments[0].answers, moments[1].answers);
    for (size_t at = 0; at < moments[0].len; at += PAGE) {
        const char *before = moments[0].bytes + at;
        char now[PAGE], *answers;

        if (memcmp(moments[1].bytes + at, before, PAGE) == 0)
            continue;
        memcpy(now, moments[1].bytes + at, PAGE);
        memcpy(moments[1].bytes + at, before, PAGE);
        answers_remove(*state);
        answers_write(*state, moments[1].bytes, moments[1].len);
        memcpy(moments[1].bytes + at, now, PAGE);
        answers = answers_of(*state, &err);
        pages++;
        refused += !answers;
        if (answers && strcmp(answers, moments[1].answers) != 0)
            fail_msg("page %zu: another answer in silence", at / PAGE + 1);
        free(answers);
    }
    assert_true(pages > 3);
    assert_in_range(refused, pages - 1, pages); /* the header repairs itself */
    for (int i = 0; i < 2; i++) {
        free(moments[i].bytes);
        free(moments[i].answers);
    }
}

int main(int argc, char *argv[])
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, answers_setup, answers_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_that_are_missing_or_too_many_are_found),
        TEST(a_page_of_an_earlier_commit_gives_no_other_answer),
    };

    if (argc > 1)
        count = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
