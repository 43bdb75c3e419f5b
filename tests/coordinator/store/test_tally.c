/* test_tally.c - a row that goes or comes behind the coordinator's back does
 * not fit the count of its table */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/tally.h"
#include "tests/coordinator/store/old_format.h"
#include "tests/coordinator/store/store_fixture.h"

#define RESULT "table 'result': "

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void put_results(struct store *store, const char *const *nonces)
{
    struct err err = { "" };

    for (int round = 0; nonces[round]; round++) {
        struct store_result row = fixture_result(nonces[round], FIXTURE_KEY);

        row.id.round = round;
        assert_int_equal(store_result_put(store, &row, &err), 1);
    }
}

/* Three results, and what they rest on. */
static struct store *three(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    put_results(store, (const char *const[]){ "n1", "n2", "n3", NULL });
    ok(store_commit(store, &err), &err);
    return store;
}

/* The database is refused with these words, or with NULL it is not. */
static void check(const char *path, const char *words)
{
    struct store *store;
    struct err err = { "" };
    int rc = store_open(path, STORE_WHOLE, &store, &err);

    if (rc == 0)
        store_close(store);
    if (!words && rc < 0)
        fail_msg("%s", err.text);
    if (words && (rc == 0 || !strstr(err.text, words)))
        fail_msg("'%s', not '%s'", err.text, words);
    assert_true(!words || strstr(err.text, "'fa-coord recover'"));
}

/* What another program does to the three results. */
static void other_program(char *path, const char *sql, const char *words)
{
    store_close(three(path));
    old_format_change(path, sql);
    check(path, words);
}

static void a_deleted_row_is_missing(void **state)
{
    other_program(*state, "DELETE FROM result WHERE nonce='n2'",
                  RESULT "1 of 3 rows are missing; ");
}

static void all_rows_of_a_table_are_missing(void **state)
{
    other_program(*state, "DELETE FROM result",
                  RESULT "3 of 3 rows are missing; ");
}

/* Its key is another one, and its checksum is that of the copy. */
static void a_row_too_many_is_found(void **state)
{
    struct store *store = three(*state);
    struct store_event event = { 1, "I", "HOST-READY", "box1" };
    struct err err = { "" };

    ok(store_event(store, &event, &err), &err);
    ok(store_event(store, &event, &err), &err);
    ok(store_commit(store, &err), &err);
    ok(sql_run(store_db(store),
               "INSERT INTO event SELECT 3, at_utc, level, name, text,"
               " checksum_short(3, at_utc, level, name, text) FROM event"
               " WHERE id=1",
               &err),
       &err);
    store_close(store);
    check(*state, "table 'event': 3 rows, and 2 were written; ");
}

static void as_many_other_rows_are_found(void **state)
{
    struct store *store = three(*state);
    struct err err = { "" };

    ok(sql_run(store_db(store),
               "UPDATE request SET device='cpu';"
               "UPDATE host SET cpus=5, checksum=checksum_short(name, position,"
               " rate_usd_per_h, machine, boot_id, worker_version, toolkit, 5,"
               " slots)",
               &err),
       &err);
    store_close(store);
    check(*state, "table 'host': its rows are not those that were written; ");
}

static void the_figures_have_a_checksum(void **state)
{
    other_program(*state, "UPDATE tally SET row_count=2 WHERE name='result'",
                  "the row 'tally result' is not as it was written; ");
}

static void the_figures_are_complete(void **state)
{
    other_program(*state, "DELETE FROM tally WHERE name='result'",
                  "the row 'tally result' is missing; ");
}

/* Each as often as a run does it: insert, change, replace, end, delete. */
static void all_that_is_written_is_counted(void **state)
{
    struct store *store = three(*state);
    struct store_gpu gpu = { "GPU-1", "gpu1", 0, "NVIDIA L4", "550", "{}" };
    struct store_host host = { .name = "gpu1", .cpus = 4 };
    struct store_step step = { 1, 0, "timed", FIXTURE_KEY, 0, 0, 0.25 };
    struct store_config config = { .key = FIXTURE_KEY,
                                   .sweep = 1,
                                   .params = "{}",
                                   .warnings = "[]",
                                   .source_key = "5c" };
    struct err err = { "" };

    for (int i = 0; i < 3; i++) {
        host.slots = i;
        ok(store_host_put(store, &host, &err), &err);
        ok(store_gpu_put(store, &gpu, &err), &err);
        ok(store_config_put(store, &config, &err), &err);
        ok(store_steps_drop(store, 1, &err), &err);
        ok(store_step_put(store, &step, &err), &err);
        if (i > 0)
            ok(store_commit(store, &err), &err);
    }
    assert_int_equal(fixture_number(store, "SELECT row_count FROM tally"
                                           " WHERE name='gpu'"),
                     1);
    store_close(store);
    check(*state, NULL);
}

static void what_is_rolled_back_is_not_counted(void **state)
{
    struct store *store = three(*state);
    struct store_event event = { 1, "I", "HOST-READY", "box1" };
    struct err err = { "" };

    ok(store_steps_drop(store, 1, &err), &err);
    ok(store_event(store, &event, &err), &err);
    store_rollback(store);
    ok(store_run_end(store, FIXTURE_EPOCH, "done", 9, &err), &err);
    ok(store_commit(store, &err), &err);
    store_close(store);
    check(*state, NULL);
}

/* A writer adds to the figures; it does not make them fit. */
static void what_was_deleted_stays_missing(void **state)
{
    struct store *store;
    struct err err = { "" };

    store_close(three(*state));
    old_format_change(*state, "DELETE FROM result WHERE nonce='n2'");
    store = fixture_open(*state, STORE_WRITE);
    ok(store_run_end(store, FIXTURE_EPOCH, "done", 9, &err), &err);
    ok(store_commit(store, &err), &err);
    store_close(store);
    check(*state, RESULT "1 of 3 rows are missing; ");
}

/* As 'recover' does with what it could copy. */
static void what_is_counted_again_is_whole(void **state)
{
    struct store *store;
    struct err err = { "" };

    store_close(three(*state));
    old_format_change(*state, "DELETE FROM result WHERE nonce='n2'");
    store = fixture_open(*state, STORE_WRITE);
    ok(store_run_end(store, FIXTURE_EPOCH, "done", 9, &err), &err);
    ok(store_count(store, &err), &err);
    ok(store_commit(store, &err), &err);
    store_close(store);
    check(*state, NULL);
}

/* Its readers are not told of rows that are missing. */
static void a_reader_sees_rows_and_figures_of_one_commit(void **state)
{
    struct store *writer = three(*state), *reader;
    struct err err = { "" };
    int64_t rows;

    reader = fixture_open(*state, STORE_READ);
    ok(whole_begin(store_db(reader), &err), &err);
    rows = fixture_number(reader, "SELECT count(*) FROM result");
    ok(sql_run(store_db(writer), "DELETE FROM result WHERE nonce='n2'", &err),
       &err);
    ok(whole_check(store_db(reader), &err), &err);
    assert_int_equal(fixture_number(reader, "SELECT count(*) FROM result"),
                     rows);
    whole_end(store_db(reader));
    assert_int_equal(whole_check(store_db(reader), &err), ERR_STORE);
    store_close(reader);
    store_close(writer);
}

/* Also when two take each other's place. */
static void the_order_of_rows_does_not_matter(void **state)
{
    struct sql_value seven = { .type = 'I', .integer = 7 },
                     digits = { .type = 't', .text = "00000000000000ff", 16 };
    struct row_cells row = { .n = 1, .names = { "checksum" } };
    struct tally_count a = { .known = true }, b = a;

    (void)state;
    row.values[0] = seven;
    tally_row(&a, &row);
    row.values[0] = digits;
    tally_row(&a, &row);
    tally_row(&b, &row);
    row.values[0] = seven;
    assert_false(tally_fits(&a, &b));
    tally_row(&b, &row);
    assert_true(tally_fits(&a, &b));
    assert_int_equal(a.rows, 2);
    assert_int_equal(a.sum, 7 + 255);
}

static void a_table_has_its_place_and_another_has_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < WHOLE_TABLES; i++)
        assert_int_equal(tally_find(whole_tables[i].name), i);
    assert_int_equal(tally_find("tally"), WHOLE_TABLES);
}

/* As those of old formats. */
static void a_row_without_a_checksum_is_a_row(void **state)
{
    struct row_cells row = { .n = 1,
                             .names = { "x" },
                             .values = { { .type = 'I', .integer = 5 },
                                         { .type = 'I', .integer = 7 } } };
    struct tally_count count = { .known = true };

    (void)state;
    tally_row(&count, &row);
    assert_int_equal(count.rows, 1);
    assert_true(count.sum == 0);
}

/* They are in databases that were written before. */
static void the_sum_is_of_the_first_16_digits_of_a_checksum(void **state)
{
    struct row_cells row = {
        .n = 1,
        .names = { "checksum" },
        .values = { { .type = 't',
                      .text = "10000000000009afffffffffffffffff",
                      .len = 32 } },
    };
    struct tally_count count = { .known = true };

    (void)state;
    tally_row(&count, &row);
    assert_true(count.sum == 0x10000000000009af);
    count.sum = 0;
    row.values[0].len = 2; /* or of fewer */
    tally_row(&count, &row);
    assert_true(count.sum == 0x10);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_deleted_row_is_missing),
        TEST(all_rows_of_a_table_are_missing),
        TEST(a_row_too_many_is_found),
        TEST(as_many_other_rows_are_found),
        TEST(the_figures_have_a_checksum),
        TEST(the_figures_are_complete),
        TEST(all_that_is_written_is_counted),
        TEST(what_is_rolled_back_is_not_counted),
        TEST(what_was_deleted_stays_missing),
        TEST(what_is_counted_again_is_whole),
        TEST(a_reader_sees_rows_and_figures_of_one_commit),
        cmocka_unit_test(a_table_has_its_place_and_another_has_none),
        cmocka_unit_test(a_row_without_a_checksum_is_a_row),
        cmocka_unit_test(the_sum_is_of_the_first_16_digits_of_a_checksum),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
