#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

/* Change the sound database, and expect this one finding.  The rows of
 * 'sealed' are as if they had been written so. */
static void expect(const char *path, const char *sql, const char *sealed,
                   const char *check, const char *text)
{
    struct store *store = report_fixture(path);
    struct verify verify;
    struct err err = { "" };

    if (sql_run(store_db(store), sql, &err) < 0)
        fail_msg("%s", err.text);
    if (sealed)
        fixture_seal(store, sealed);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].check, check);
    assert_string_equal(verify.findings[0].text, text);
    verify_fini(&verify);
    store_close(store);
}

static void a_sound_database_has_no_findings(void **state)
{
    struct store *store = report_fixture(*state);
    struct verify verify;

    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    assert_int_equal(verify.rows, 37);
    assert_int_equal(verify.keys, 5);
    verify_fini(&verify);
    store_close(store);
}

static void a_changed_time_is_found_by_its_checksum(void **state)
{
    expect(*state, "UPDATE result SET samples='[0.0001]' WHERE nonce='n1-0'",
           NULL, "checksum",
           "result n1-0: the row was changed after it was written");
}

static void a_deleted_interval_is_missing(void **state)
{
    expect(*state, "DELETE FROM interval WHERE host='gpu1' AND start_ns=0",
           NULL, "count", "table 'interval': 1 of 4 rows are missing");
}

static void the_figures_of_a_table_hold(void **state)
{
    expect(*state, "UPDATE tally SET row_count=9 WHERE name='result'", NULL,
           "count", "the row 'tally result' is not as it was written");
}

/* One bit: 128 becomes 328. */
static void changed_parameters_are_found_by_their_key(void **state)
{
    expect(*state,
           "UPDATE config SET params=replace(params, '128', '328')"
           " WHERE key='" REPORT_FASTER "'",
           "config", "key",
           "config " REPORT_FASTER
           ": its parameters have the key b4f0e1786b55324a1d8f07ae4644e9d2");
}

static void changed_parameters_may_be_no_configuration(void **state)
{
    expect(*state,
           "UPDATE config SET params=replace(params, '}', 'y')"
           " WHERE key='" REPORT_FASTER "'",
           "config", "key",
           "config " REPORT_FASTER ": its parameters are no configuration");
}

static void an_outcome_needs_its_evidence(void **state)
{
    expect(*state,
           "UPDATE outcome SET nonce='gone' WHERE shape='odd'"
           " AND config='" REPORT_FASTER "'",
           "outcome", "I3",
           "configuration " REPORT_FASTER ", shape odd: "
           "settled by gone, which is not there");
}

static void an_outcome_says_what_its_evidence_says(void **state)
{
    expect(*state,
           "UPDATE outcome SET outcome='correct' WHERE shape='odd'"
           " AND config='" REPORT_WRONG "'",
           "outcome", "I3",
           "configuration " REPORT_WRONG ", shape odd: "
           "settled as correct, its evidence says correctness");
}

static void the_newest_round_of_a_measurement_settles_it(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result screen = fixture_result("n0", FIXTURE_KEY);
    struct store_result again = fixture_result("n1", FIXTURE_KEY);
    struct store_result canary = fixture_result("n2", FIXTURE_KEY);
    struct store_outcome outcome = { .config = FIXTURE_KEY,
                                     .shape = screen.id.shape,
                                     .source_key = screen.id.source_key,
                                     .measure_key = screen.id.measure_key,
                                     .outcome = screen.outcome,
                                     .reason = "",
                                     .nonce = "n0",
                                     .median_s = 1 };
    struct verify verify;
    struct err err;

    fixture_owners(store, FIXTURE_KEY);
    again.id.round = 1;
    canary.id.purpose = "canary";
    assert_int_equal(store_result_put(store, &screen, &err), 1);
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    assert_int_equal(store_result_put(store, &canary, &err), 1);
    assert_int_equal(store_commit(store, &err), 0);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    assert_int_equal(store_result_put(store, &again, &err), 1);
    assert_int_equal(store_commit(store, &err), 0);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].text,
                        "configuration " FIXTURE_KEY
                        ", shape n16m: settled by round 0, "
                        "and a newer one is there");
    verify_fini(&verify);
    assert_int_equal(
        sql_run(store_db(store), "UPDATE outcome SET nonce='n2'", &err), 0);
    fixture_seal(store, "outcome");
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].text,
                        "configuration " FIXTURE_KEY
                        ", shape n16m: settled by a canary");
    verify_fini(&verify);
    store_close(store);
}

static void intervals_of_a_host_do_not_overlap(void **state)
{
    expect(*state,
           "UPDATE interval SET end_ns=end_ns+1 WHERE host='gpu1' AND"
           " start_ns=0",
           "interval", "I5",
           "host gpu1: an interval overlaps the one before it at "
           "1800000000000 of run 1699999999999999999");
}

static void an_interval_does_not_run_backwards(void **state)
{
    expect(*state,
           "UPDATE interval SET end_ns=start_ns-1 WHERE host='gpu1'"
           " AND start_ns>0",
           "interval", "I5",
           "host gpu1: an interval runs backwards at 1800000000000 of run "
           "1699999999999999999");
}

/* The index refuses it, as long as it exists. */
static void a_result_is_counted_once(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result first = fixture_result("n0", FIXTURE_KEY);
    struct store_result second = fixture_result("n1", FIXTURE_KEY);
    struct verify verify;
    struct err err;

    fixture_owners(store, FIXTURE_KEY);
    assert_int_equal(
        sql_run(store_db(store), "DROP INDEX result_identity", &err), 0);
    assert_int_equal(store_result_put(store, &first, &err), 1);
    assert_int_equal(store_result_put(store, &second, &err), 1);
    assert_int_equal(store_commit(store, &err), 0);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 2); /* the first: the index is not there */
    assert_string_equal(verify.findings[0].check, "layout");
    assert_string_equal(verify.findings[1].check, "I2");
    assert_string_equal(verify.findings[1].text,
                        "configuration " FIXTURE_KEY
                        ", shape n16m, screen 0 is counted 2 "
                        "times");
    verify_fini(&verify);
    store_close(store);
}

static void what_sqlite_finds_is_a_finding(void **state)
{
    expect(*state,
           "PRAGMA ignore_check_constraints=1;"
           "UPDATE gate SET kind='maybe' WHERE position=0;"
           "PRAGMA ignore_check_constraints=0",
           "gate", "integrity", "CHECK constraint failed in gate");
}

/* A result of what is counted already, and one that never was to count. */
static void rows_that_do_not_count_are_sound_too(void **state)
{
    struct store *store = report_fixture(*state);
    struct store_result again = fixture_result("n9-0", FIXTURE_KEY);
    struct verify verify;
    struct err err;

    assert_in_range(store_result_put(store, &again, &err), 1, 2);
    again.nonce = "n9-1";
    assert_int_equal(store_result_put(store, &again, &err), 2);
    again.nonce = "n9-2";
    again.evidence = true;
    assert_int_equal(store_result_put(store, &again, &err), 2);
    assert_int_equal(store_commit(store, &err), 0);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    assert_int_equal(verify.rows, 37 + 3);
    verify_fini(&verify);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_sound_database_has_no_findings),
        TEST(a_changed_time_is_found_by_its_checksum),
        TEST(a_deleted_interval_is_missing),
        TEST(the_figures_of_a_table_hold),
        TEST(changed_parameters_are_found_by_their_key),
        TEST(changed_parameters_may_be_no_configuration),
        TEST(an_outcome_needs_its_evidence),
        TEST(an_outcome_says_what_its_evidence_says),
        TEST(the_newest_round_of_a_measurement_settles_it),
        TEST(intervals_of_a_host_do_not_overlap),
        TEST(an_interval_does_not_run_backwards),
        TEST(a_result_is_counted_once),
        TEST(what_sqlite_finds_is_a_finding),
        TEST(rows_that_do_not_count_are_sound_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
