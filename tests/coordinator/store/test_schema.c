/* test_schema.c - databases of older formats, brought up to date */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "common/sampling.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/schedule/sched_leases.h"
#include "coordinator/store/sql.h"
#include "tests/coordinator/store/store_fixture.h"

#define NEWEST 10
#define LAYOUT_BYTES_MAX (1 << 16)

static void make_format(const char *path, int format)
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

static int64_t format_of(const char *path)
{
    struct sqlite3 *db;
    struct err err = { "" };
    int64_t format;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sql_number(db, "PRAGMA user_version", &format, &err, ""),
                     0);
    sqlite3_close(db);
    return format;
}

/* Behind the back of the store. */
static void change(const char *path, const char *sql)
{
    struct sqlite3 *db;
    struct err err = { "" };

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sql_run(db, sql, &err) < 0)
        fail_msg("%s", err.text);
    sqlite3_close(db);
}

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
    static const int formats[] = { 1, 6, 7, 8, 9 };
    struct store *store;
    char *upgraded, *fresh, *other = mem_printf("%s.fresh", (char *)*state);

    store = fixture_open(other, STORE_CREATE);
    fresh = layout(store);
    store_close(store);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        (void)remove(*state);
        make_format(*state, formats[i]);
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

static void old_results_say_how_they_were_sampled(void **state)
{
    struct store *store;

    make_format(*state, 1);
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

    make_format(*state, 1);
    store = fixture_open(*state, STORE_WRITE);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].text,
                        "result n3: the row was changed after it was written");
    verify_fini(&verify);
    store_close(store);
}

/* The rows of format 6 are of the cpu device, which has no registers; it was
 * stored as 0. */
static void what_was_not_known_becomes_null(void **state)
{
    struct store *store;
    struct verify verify;

    make_format(*state, 6);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM build WHERE"
                                    " registers IS NULL AND spill_bytes IS"
                                    " NULL AND static_smem IS NULL"),
                     5);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM result WHERE"
                                    " registers IS NULL AND spill_bytes IS"
                                    " NULL AND static_smem IS NULL"
                                    " AND max_at=0"),
                     10);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    store_close(store);
}

static void what_was_known_stays(void **state)
{
    struct store *store;

    make_format(*state, 1);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " registers=32 AND spill_bytes=0"
                                           " AND static_smem=0"),
                     3);
    /* one has no error, so no element of it */
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " max_at=7 AND max_error>0"),
                     2);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " max_at IS NULL AND"
                                           " max_error IS NULL"),
                     1);
    store_close(store);
}

static void check_format_7(const char *path, enum store_mode mode)
{
    struct store *store = fixture_open(path, mode);
    struct verify verify;

    assert_int_equal(fixture_number(store,
                                    "SELECT sum(registers=40 AND spill_bytes=0"
                                    " AND static_smem=1024) FROM build"),
                     1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " coalesce(registers, spill_bytes,"
                                           " static_smem) IS NULL"),
                     9);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " max_at IS NULL"),
                     1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM tool WHERE"
                                           " status IS NULL"),
                     1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM contest WHERE"
                                           " ended_utc IS NULL AND against IS"
                                           " NULL"),
                     1);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    store_close(store);
}

static void format_7_is_read_and_gone_on_with(void **state)
{
    make_format(*state, 7);
    check_format_7(*state, STORE_READ);
    assert_int_equal(format_of(*state), 7);
    check_format_7(*state, STORE_WRITE);
    assert_int_equal(format_of(*state), NEWEST);
}

/* Their launches were not counted, which is not 0. */
static void check_format_8(const char *path, enum store_mode mode)
{
    struct store *store = fixture_open(path, mode);
    struct verify verify;

    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " checked IS NULL AND"
                                           " varied IS NULL"),
                     10);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    store_close(store);
}

static void format_8_is_read_and_gone_on_with(void **state)
{
    struct store_result result;
    struct store *store;
    struct err err;

    make_format(*state, 8);
    check_format_8(*state, STORE_READ);
    assert_int_equal(format_of(*state), 8);
    check_format_8(*state, STORE_WRITE);
    assert_int_equal(format_of(*state), NEWEST);
    store = fixture_open(*state, STORE_WRITE);
    result = fixture_result("n81", "37bf703f961721ac3d1a2f651b281fcb");
    assert_int_equal(store_result_put(store, &result, &err), 1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result WHERE"
                                           " checked=7 AND varied=0"),
                     1);
    store_close(store);
}

/* Their proof was not counted, and rows had no checksums. */
static void check_format_9(const char *path, enum store_mode mode)
{
    struct store *store = fixture_open(path, mode);
    struct verify verify;

    assert_int_equal(fixture_number(store, "SELECT count(*) FROM contestant"
                                           " WHERE proof_launches IS NULL AND"
                                           " proof_varied IS NULL"),
                     2);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM config WHERE"
                                           " checksum<>0"),
                     4);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    store_close(store);
}

static void the_format_before_is_read_and_gone_on_with(void **state)
{
    struct store *store;
    struct err err;

    make_format(*state, 9);
    check_format_9(*state, STORE_READ);
    assert_int_equal(format_of(*state), 9);
    check_format_9(*state, STORE_WRITE);
    assert_int_equal(format_of(*state), NEWEST);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(store_contestant_put(
                         store,
                         &(struct store_contestant){
                             .pass = 1,
                             .position = 1,
                             .config = "ae24af6b1bac6254cd4c0f7e7bb870d0",
                             .source_key = "70164ac1ade750b1388348bdc5a0e6b0",
                             .role = "finalist",
                             .reason = "",
                             .proof_launches = 240,
                             .proof_varied = 0 },
                         &err),
                     0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM contestant"
                                           " WHERE proof_launches=240 AND"
                                           " proof_varied=0"),
                     1);
    store_close(store);
}

/* Without checksums only the keys can say so. */
static void parameters_that_were_wrong_in_format_9_stay_wrong(void **state)
{
    struct store *store;
    struct verify verify;

    make_format(*state, 9);
    change(*state, "UPDATE config SET params=replace(params, '64', '32')"
                   " WHERE point=2");
    store = fixture_open(*state, STORE_WRITE);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].check, "key");
    verify_fini(&verify);
    store_close(store);
}

static void a_row_of_format_8_that_was_wrong_stays_wrong(void **state)
{
    struct store *store;
    struct verify verify;

    make_format(*state, 8);
    change(*state, "UPDATE result SET held_s=held_s+1"
                   " WHERE nonce=(SELECT min(nonce) FROM result)");
    store = fixture_open(*state, STORE_WRITE);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_non_null(strstr(verify.findings[0].text,
                           "the row was changed after it was written"));
    verify_fini(&verify);
    store_close(store);
}

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
    assert_int_equal(format_of(path), format);
    return rows;
}

static void
to_read_format_6_changes_nothing_to_write_keeps_its_rows(void **state)
{
    char *before, *after;

    make_format(*state, 6);
    change(*state, "PRAGMA journal_mode=WAL");
    before = read_content(*state, 6);
    assert_non_null(strchr(before, '\n'));
    store_close(fixture_open(*state, STORE_WRITE));
    after = read_content(*state, NEWEST);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* It was begun with a fixed number of blocks, and keeps it. */
static void a_confirmation_of_format_6_has_no_looks(void **state)
{
    struct store *store;

    make_format(*state, 6);
    store = fixture_open(*state, STORE_READ);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM contest WHERE"
                                    " blocks=20 AND ending IS NULL"
                                    " AND look_blocks=0 AND most_blocks=0"
                                    " AND look_over_all=0"),
                     1);
    store_close(store);
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

    make_format(*state, 6);
    change(*state, "PRAGMA journal_mode=WAL");
    before = read_content(*state, 6);
    for (int steps = 1; killed_after(*state, steps); steps += 1 + steps / 4) {
        now = read_content(*state, 6);
        assert_string_equal(now, before);
        free(now);
        killed++;
    }
    assert_true(killed > 5);
    now = read_content(*state, NEWEST);
    assert_string_equal(now, before);
    free(now);
    free(before);
}

static void old_rows_are_kept_whatever_they_hold(void **state)
{
    struct verify verify;
    struct store *store;
    struct err err;

    make_format(*state, 6);
    change(*state, "UPDATE lease SET purpose='trial', ended_utc=NULL,"
                   " ending=NULL WHERE id=1;"
                   "UPDATE outcome SET config='gone'"
                   " WHERE config=(SELECT min(config) FROM outcome)");
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store, "PRAGMA foreign_keys"), 1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM outcome"), 4);
    assert_int_equal(
        store_lease_end(store,
                        fixture_number(store, "SELECT min(epoch) FROM lease"),
                        1, "lost", 5, &err),
        0);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM lease WHERE"
                                    " purpose='trial' AND ending='lost'"),
                     1);
    verify_run(store, &verify);
    assert_true(verify.found > 0);
    assert_string_equal(verify.findings[0].text,
                        "CHECK constraint failed in lease");
    verify_fini(&verify);
    store_close(store);
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

    make_format(*state, 6);
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

    make_format(*state, 6);
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
        TEST(old_results_say_how_they_were_sampled),
        TEST(a_row_that_was_wrong_stays_wrong),
        TEST(what_was_not_known_becomes_null),
        TEST(what_was_known_stays),
        TEST(format_7_is_read_and_gone_on_with),
        TEST(format_8_is_read_and_gone_on_with),
        TEST(the_format_before_is_read_and_gone_on_with),
        TEST(parameters_that_were_wrong_in_format_9_stay_wrong),
        TEST(a_row_of_format_8_that_was_wrong_stays_wrong),
        TEST(to_read_format_6_changes_nothing_to_write_keeps_its_rows),
        TEST(a_confirmation_of_format_6_has_no_looks),
        TEST(a_migration_that_is_killed_starts_again),
        TEST(old_rows_are_kept_whatever_they_hold),
        TEST(a_word_that_is_not_in_the_vocabulary_is_refused),
        TEST(a_row_without_its_owner_is_refused),
        TEST(outcomes_are_those_of_the_enum),
        TEST(other_words_are_those_of_their_enums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
