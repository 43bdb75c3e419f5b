#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/msg.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/row_cells.h"
#include "tests/coordinator/store/store_fixture.h"

struct thing {
    const char *name, *note;
    char code[4];
    int64_t size, seen, owner;
    double weight;
    bool heavy, kept, noted;
    struct reals times;
};

#define THING(member, kind) ROW_AT(struct thing, member, kind)
static const struct row_column columns[] = {
    { "id", ROW_ONE, 0, 0 },
    THING(name, TEXT),
    THING(note, NULLABLE),
    THING(code, CHARS),
    THING(size, INT),
    THING(seen, COUNT),
    THING(owner, LINK),
    THING(weight, REAL),
    THING(heavy, BOOL),
    ROW_AS(struct thing, "dropped", kept, NOT),
    ROW_AS(struct thing, "noted", noted, READ_SET),
    THING(times, REALS),
    { "seal", ROW_LATER, 0, 0 },
};
static const struct row_shape shape = ROW_SHAPE("thing", columns);

static void an_insert_names_what_is_written(void **state)
{
    char *text = row_insert_text(&shape, "INSERT", " RETURNING id");

    (void)state;
    assert_string_equal(text,
                        "INSERT INTO thing(id,name,note,code,size,seen,owner,"
                        "weight,heavy,dropped,times,seal)"
                        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id");
    free(text);
}

static void values_are_in_the_order_of_the_insert(void **state)
{
    static const double times[] = { 0.5, NAN };
    struct thing thing = { .code = "abc",
                           .size = 7,
                           .seen = -1,
                           .weight = NAN,
                           .heavy = true,
                           .kept = true,
                           .times = { times, 2 } };
    struct sql_value values[SQL_VALUES_MAX];
    struct buf json;

    (void)state;
    buf_init(&json, 100);
    assert_int_equal(row_values(&shape, &thing, &json, values), 12);
    assert_int_equal(values[0].integer, 1);
    assert_string_equal(values[1].text, "");
    assert_int_equal(values[2].type, 'n');
    assert_string_equal(values[3].text, "abc");
    assert_int_equal(values[4].integer, 7);
    for (int i = 5; i < 8; i++) /* seen, owner, weight */
        assert_int_equal(values[i].type, 'n');
    assert_int_equal(values[8].integer, 1);
    assert_int_equal(values[9].integer, 0);
    assert_string_equal(values[10].text, "[0.5,null]");
    assert_int_equal(values[11].type, 'n');
    assert_int_equal(row_place(&shape, "times"), 10);
    assert_int_equal(row_place(&shape, "id"), 0);
    buf_fini(&json);
}

static void read_one(struct store *store, const char *text, struct thing *out)
{
    struct row_query query;
    struct err err = { "" };

    memset(out, 0x5a, sizeof(*out));
    if (row_open(store_db(store), text, &shape, &query, &err, "") < 0)
        fail_msg("%s", err.text);
    assert_int_equal(row_next(&query, out, &err), 1);
    assert_int_equal(row_next(&query, out, &err), 0);
    row_close(&query);
}

static void a_query_is_read_in_any_order(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct thing thing;

    read_one(store,
             "SELECT 2.5 AS weight, 0 AS dropped, 9 AS owner, 3 AS seen,"
             " 'abcdef' AS code, 1 AS noted, 1 AS heavy, 4 AS size",
             &thing);
    assert_true(thing.weight == 2.5);
    assert_true(thing.kept && thing.noted && thing.heavy);
    assert_int_equal(thing.owner, 9);
    assert_int_equal(thing.seen, 3);
    assert_int_equal(thing.size, 4);
    assert_string_equal(thing.code, "abc");
    store_close(store);
}

static void nothing_is(const struct thing *thing)
{
    assert_string_equal(thing->name, "");
    assert_string_equal(thing->note, "");
    assert_string_equal(thing->code, "");
    assert_int_equal(thing->size, 0);
    assert_int_equal(thing->seen, -1);
    assert_int_equal(thing->owner, 0);
    assert_true(isnan(thing->weight));
    assert_false(thing->heavy || thing->kept || thing->noted);
}

static void null_and_a_column_that_is_not_read_are_the_same(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct thing thing;

    read_one(store, "SELECT NULL AS id", &thing);
    nothing_is(&thing);
    read_one(store,
             "SELECT NULL AS name, NULL AS note, NULL AS code, NULL AS size,"
             " NULL AS seen, NULL AS owner, NULL AS weight, NULL AS heavy,"
             " NULL AS dropped, NULL AS noted",
             &thing);
    nothing_is(&thing);
    store_close(store);
}

static void a_column_without_a_member_is_refused(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct row_query query;
    struct err err = { "" };

    assert_int_equal(row_prepare(store_db(store), "SELECT 1 AS size, 2 AS sise",
                                 &shape, &query, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "no member for the column 'sise'");
    assert_null(query.stmt);
    store_close(store);
}

/* Queries that are prepared once are started again, also half way. */
static void a_query_is_used_again(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct row_query query;
    struct thing thing;
    struct err err = { "" };

    assert_int_equal(row_prepare(store_db(store),
                                 "SELECT ?1 AS size UNION ALL SELECT 0", &shape,
                                 &query, &err),
                     0);
    for (int64_t i = 1; i < 4; i++) {
        assert_int_equal(row_start(&query, &err, "I", i), 0);
        assert_int_equal(row_next(&query, &thing, &err), 1);
        assert_int_equal(thing.size, i);
    }
    row_close(&query);
    row_close(&query);
    store_close(store);
}

struct first {
    char code[4];
    int64_t size;
};

static const struct row_column first_columns[] = {
    ROW_AT(struct first, code, CHARS),
    ROW_AT(struct first, size, INT),
};
static const struct row_shape first_shape = ROW_SHAPE(NULL, first_columns);

static void the_first_row_outlives_its_query(void **state)
{
    static const char text[] = "SELECT ?1 AS size, ?2 AS code"
                               " UNION ALL SELECT 8, 'z' LIMIT ?3";
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct sqlite3 *db = store_db(store);
    struct err err = { "" };
    struct first row;

    assert_int_equal(row_first(db, text, &first_shape, &row, &err, "Isi",
                               INT64_C(7), "abc", 2),
                     1);
    assert_int_equal(row.size, 7);
    assert_string_equal(row.code, "abc");
    assert_int_equal(row_first(db, text, &first_shape, &row, &err, "Isi",
                               INT64_C(7), "abc", 0),
                     0);
    assert_int_equal(
        row_first(db, "SELECT 1 AS sise", &first_shape, &row, &err, ""),
        ERR_INPUT);
    assert_string_equal(err.text, "no member for the column 'sise'");
    store_close(store);
}

static void a_number_is_the_only_column(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err = { "" };
    int64_t n = 3;

    assert_int_equal(
        sql_number(store_db(store), "SELECT ?1 * 2", &n, &err, "I", INT64_C(4)),
        0);
    assert_int_equal(n, 8);
    assert_int_equal(
        sql_number(store_db(store), "SELECT 1 LIMIT 0", &n, &err, ""), 0);
    assert_int_equal(n, 0);
    store_close(store);
}

static void cells_are_found_by_their_names(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct sqlite3_stmt *stmt = NULL;
    struct err err = { "" };
    struct row_cells row;

    assert_int_equal(sql_prepare(store_db(store),
                                 "SELECT 7 AS size, 0.5 AS weight,"
                                 " NULL AS note, 'x' AS name",
                                 &stmt, &err),
                     0);
    assert_int_equal(sql_step(stmt, &err), 1);
    row_cells_read(stmt, &row);
    assert_int_equal(row.n, 4);
    assert_string_equal(row.names[1], "weight");
    assert_int_equal(row.values[row_cells_find(&row, "size")].integer, 7);
    assert_int_equal(row.values[row_cells_find(&row, "note")].type, 'n');
    assert_int_equal(row_cells_find(&row, "none"), 4);
    assert_string_equal(row_cells_text(&row, 1), "0.5");
    assert_string_equal(row_cells_text(&row, 2), "");
    assert_string_equal(row_cells_text(&row, 4), "");
    sql_free(stmt);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_insert_names_what_is_written),
        cmocka_unit_test(values_are_in_the_order_of_the_insert),
        TEST(a_query_is_read_in_any_order),
        TEST(null_and_a_column_that_is_not_read_are_the_same),
        TEST(a_column_without_a_member_is_refused),
        TEST(a_query_is_used_again),
        TEST(the_first_row_outlives_its_query),
        TEST(a_number_is_the_only_column),
        TEST(cells_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
