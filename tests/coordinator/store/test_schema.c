/* test_schema.c - the tables of a database, and the words and owners that they
 * insist on */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "common/sampling.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/schedule/sched_leases.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/store/old_format.h"
#include "tests/coordinator/store/store_fixture.h"

#define LAYOUT_BYTES_MAX (1 << 16)

/* Append the tokens of a statement without its comments and layout.  A renamed
 * table has quotes around its name. */
static void plain_sql(const char *sql, char *to)
{
    bool blank = false;

    for (const char *c = sql; *c; c++) {
        if (c[0] == '-' && c[1] == '-')
            c += strcspn(c, "\n");
        if (*c == '\0')
            break;
        if (strchr(" \n\t", *c)) {
            blank = true;
            continue;
        }
        if (*c == '"')
            continue;
        if (blank && !strchr("(),", *c) && to[-1] != '(' && to[-1] != ',')
            *to++ = ' ';
        blank = false;
        *to++ = *c;
    }
    memcpy(to, "\n", 2);
}

/* The statements that make all tables and indices, in the order of names. */
static char *layout(struct store *store)
{
    struct sqlite3_stmt *stmt;
    struct err err = { "" };
    char *text = mem_new(1, LAYOUT_BYTES_MAX);
    size_t n = 1;

    text[0] = '\n'; /* plain_sql() looks back */
    if (sql_prepare(store_db(store),
                    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
                    " ORDER BY name",
                    &stmt, &err) < 0)
        fail_msg("%s", err.text);
    while (sql_step(stmt, &err) == 1) {
        const char *sql = sql_text(stmt, 0);

        assert_true(n + strlen(sql) + 2 < LAYOUT_BYTES_MAX);
        plain_sql(sql, text + n);
        n += strlen(text + n);
    }
    sql_free(stmt);
    return text;
}

static void an_older_database_comes_to_look_like_a_new_one(void **state)
{
    static const int formats[] = { 1, 6, 7, 8, 9, 10, 11 };
    struct store *store;
    char *upgraded, *fresh, *other = mem_printf("%s.fresh", (char *)*state);

    store = fixture_open(other, STORE_CREATE);
    fresh = layout(store);
    store_close(store);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        (void)remove(*state);
        old_format_make(*state, formats[i]);
        store = fixture_open(*state, STORE_WRITE);
        upgraded = layout(store);
        store_close(store);
        assert_string_equal(upgraded, fresh);
        free(upgraded);
    }
    for (const char *const *end = (const char *const[]){ "", ".lock", NULL };
         *end; end++) {
        char *name = mem_printf("%s%s", other, *end);

        assert_int_equal(remove(name), 0);
        free(name);
    }
    free(other);
    free(fresh);
}

static void a_word_that_is_not_in_the_vocabulary_is_refused(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_event event = { 1, "X", "HOST-READY", "box1" };
    struct err err;

    assert_int_equal(store_event(store, &event, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "sweep.db: event_put: CHECK constraint "
                                     "failed: level"));
    store_close(store);
}

static void a_row_without_its_owner_is_refused(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_lease lease = { .epoch = 7,
                                 .id = 1,
                                 .purpose = "kernel",
                                 .stage = "build",
                                 .host = "box1" };
    struct err err;

    assert_int_equal(store_lease_put(store, &lease, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "sweep.db: lease_put: FOREIGN KEY "
                                     "constraint failed"));
    store_close(store);
}

/* Is the word one of this column?  The table has a row. */
static bool takes(struct store *store, const char *table, const char *column,
                  const char *word)
{
    char *sql = mem_printf("UPDATE %s SET %s='%s'", table, column, word);
    struct err err;
    int rc = sql_run(store_db(store), sql, &err);

    free(sql);
    assert_true(rc == 0 || strstr(err.text, "CHECK constraint failed"));
    return rc == 0;
}

static bool is_of_build(enum outcome outcome)
{
    return outcome == OUTCOME_BUILT || outcome == OUTCOME_COMPILE ||
           outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_CRASH;
}

static bool is_of_tool(enum outcome outcome)
{
    return outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_CRASH ||
           outcome >= OUTCOME_RAN;
}

static void outcomes_are_those_of_the_enum(void **state)
{
    struct store_tool tool = { .nonce = "t1",
                               .purpose = "external",
                               .outcome = "ran" };
    struct store *store;
    struct err err;

    old_format_make(*state, 6);
    store = fixture_open(*state, STORE_WRITE);
    tool.epoch = fixture_number(store, "SELECT min(epoch) FROM run");
    assert_int_equal(store_tool_put(store, &tool, &err), 1);
    for (int i = 0; i < OUTCOME_WORDS; i++) {
        const char *word = outcome_name((enum outcome)i);
        bool settled = i < OUTCOME_PENDING;

        assert_int_equal(takes(store, "outcome", "outcome", word), settled);
        assert_int_equal(takes(store, "result", "outcome", word), settled);
        assert_int_equal(takes(store, "build", "outcome", word),
                         is_of_build((enum outcome)i));
        assert_int_equal(takes(store, "tool", "outcome", word),
                         is_of_tool((enum outcome)i));
    }
    store_close(store);
}

static void other_words_are_those_of_their_enums(void **state)
{
    struct store *store;

    old_format_make(*state, 6);
    store = fixture_open(*state, STORE_WRITE);
    for (int i = 0; i < DEVICE_KINDS; i++)
        assert_true(takes(store, "sweep", "device",
                          device_kind_name((enum device_kind)i)));
    for (int i = LEDGER_ACQUIRING; i <= LEDGER_LOST; i++)
        assert_true(takes(store, "interval", "category",
                          ledger_category_name((enum ledger_category)i)));
    for (int i = 0; i <= SCHED_PROFILE; i++)
        assert_true(takes(store, "lease", "purpose",
                          sched_purpose_name((enum sched_purpose)i)));
    for (int i = SAMPLING_SETTLED; i <= SAMPLING_UNSTABLE; i++)
        assert_true(takes(store, "result", "sampling",
                          sampling_name((enum sampling_verdict)i)));
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_older_database_comes_to_look_like_a_new_one),
        TEST(a_word_that_is_not_in_the_vocabulary_is_refused),
        TEST(a_row_without_its_owner_is_refused),
        TEST(outcomes_are_those_of_the_enum),
        TEST(other_words_are_those_of_their_enums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
