/* test_old_rows.c - the rows of databases of older formats */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/store/store_contest.h"
#include "coordinator/store/tally.h"
#include "tests/coordinator/store/old_format.h"
#include "tests/coordinator/store/store_fixture.h"

static void old_results_say_how_they_were_sampled(void **state)
{
    struct store *store;

    old_format_make(*state, 1);
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

    old_format_make(*state, 1);
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

    old_format_make(*state, 6);
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

    old_format_make(*state, 1);
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
    old_format_make(*state, 7);
    check_format_7(*state, STORE_READ);
    assert_int_equal(old_format_of(*state), 7);
    check_format_7(*state, STORE_WRITE);
    assert_int_equal(old_format_of(*state), OLD_FORMAT_NEWEST);
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

    old_format_make(*state, 8);
    check_format_8(*state, STORE_READ);
    assert_int_equal(old_format_of(*state), 8);
    check_format_8(*state, STORE_WRITE);
    assert_int_equal(old_format_of(*state), OLD_FORMAT_NEWEST);
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

static void format_9_is_read_and_gone_on_with(void **state)
{
    struct store *store;
    struct err err;

    old_format_make(*state, 9);
    check_format_9(*state, STORE_READ);
    assert_int_equal(old_format_of(*state), 9);
    check_format_9(*state, STORE_WRITE);
    assert_int_equal(old_format_of(*state), OLD_FORMAT_NEWEST);
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

/* Its rows have been counted, and hold. */
static void check_format_10(const char *path, enum store_mode mode)
{
    struct store *store = fixture_open(path, mode);
    struct verify verify;

    assert_int_equal(fixture_number(store, "SELECT row_count FROM tally WHERE"
                                           " name='result'"),
                     fixture_number(store, "SELECT count(*) FROM result"));
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM tally WHERE"
                                           " checksum_sum IS NULL"),
                     0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM contestant"
                                           " WHERE proof_launches=240"),
                     1);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 0);
    verify_fini(&verify);
    store_close(store);
}

static void format_10_is_read_and_gone_on_with(void **state)
{
    struct store_event event = { 1, "I", "HOST-READY", "box1" };
    struct store *store;
    struct err err = { "" };

    old_format_make(*state, 10);
    check_format_10(*state, STORE_READ);
    assert_int_equal(old_format_of(*state), 10);
    check_format_10(*state, STORE_WRITE);
    assert_int_equal(old_format_of(*state), OLD_FORMAT_NEWEST);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(store_event(store, &event, &err), 0);
    assert_int_equal(store_commit(store, &err), 0);
    if (whole_check(store_db(store), &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
}

/* What was deleted before it came to the newest format is found. */
static void a_row_that_format_11_misses_is_missing(void **state)
{
    struct store *store;
    struct verify verify;

    old_format_make(*state, 11);
    old_format_change(*state, "DELETE FROM result WHERE"
                              " nonce=(SELECT max(nonce) FROM result)");
    store_close(fixture_open(*state, STORE_WRITE));
    store = fixture_open(*state, STORE_READ);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_string_equal(verify.findings[0].text,
                        "table 'result': 1 of 10 rows are missing");
    verify_fini(&verify);
    store_close(store);
}

/* A host had one rate for all its past; now each run has its own. */
static void the_past_of_format_11_keeps_its_rate(void **state)
{
    struct store_host host = { .name = "localhost", .rate_usd_per_h = 7 };
    struct store *store;
    struct err err = { "" };

    old_format_make(*state, 11);
    old_format_change(*state, "UPDATE host SET rate_usd_per_h=0.5");
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(store_host_put(store, &host, &err), 0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held"), 2);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held WHERE"
                                           " rate_usd_per_h=0.5 AND"
                                           " end_ns>start_ns"),
                     2);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM held WHERE"
                                           " phase='confirm' OR"
                                           " phase='search'"),
                     2);
    store_close(store);
}

/* What was deleted later is found. */
static void a_row_of_format_10_that_was_wrong_stays_wrong(void **state)
{
    struct store *store;
    struct verify verify;

    old_format_make(*state, 10);
    old_format_change(*state, "UPDATE result SET held_s=held_s+1"
                              " WHERE nonce=(SELECT min(nonce) FROM result)");
    store_close(fixture_open(*state, STORE_WRITE));
    old_format_change(*state, "DELETE FROM result WHERE"
                              " nonce=(SELECT max(nonce) FROM result)");
    store = fixture_open(*state, STORE_READ);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 2);
    assert_string_equal(verify.findings[0].check, "checksum");
    assert_string_equal(verify.findings[1].text,
                        "table 'result': 1 of 10 rows are missing");
    verify_fini(&verify);
    store_close(store);
}

/* Zeros over the beginning of the first page of a table. */
static void damage(const char *path, const char *table)
{
    static const char zeros[512];
    off_t at = (off_t)(old_format_page(path, table) - 1) * 4096;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
    close(fd);
}

/* It cannot be counted, and the rows of other tables are there. */
static void a_damaged_page_of_format_10_leaves_the_other_tables(void **state)
{
    struct tally_count written[WHOLE_TABLES];
    struct store *store;
    struct verify verify;
    struct err err = { "" };

    old_format_make(*state, 10);
    damage(*state, "event");
    store = fixture_open(*state, STORE_READ);
    if (tally_read(store_db(store), written, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < WHOLE_TABLES; i++)
        assert_false(written[i].known);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"), 10);
    verify_run(store, &verify);
    assert_string_equal(verify.findings[0].check, "integrity");
    verify_fini(&verify);
    store_close(store);
}

/* Its step must read all rows. */
static void a_damaged_page_of_format_9_is_said(void **state)
{
    struct store *store;
    struct err err = { "" };

    old_format_make(*state, 9);
    damage(*state, "event");
    assert_int_equal(store_open(*state, STORE_READ, &store, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "database disk image is malformed; "));
}

/* Without checksums only the keys can say so. */
static void parameters_that_were_wrong_in_format_9_stay_wrong(void **state)
{
    struct store *store;
    struct verify verify;

    old_format_make(*state, 9);
    old_format_change(*state,
                      "UPDATE config SET params=replace(params, '64', '32')"
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

    old_format_make(*state, 8);
    old_format_change(*state, "UPDATE result SET held_s=held_s+1"
                              " WHERE nonce=(SELECT min(nonce) FROM result)");
    store = fixture_open(*state, STORE_WRITE);
    verify_run(store, &verify);
    assert_int_equal(verify.found, 1);
    assert_non_null(strstr(verify.findings[0].text,
                           "the row was changed after it was written"));
    verify_fini(&verify);
    store_close(store);
}

/* It was begun with a fixed number of blocks, and keeps it. */
static void a_confirmation_of_format_6_has_no_looks(void **state)
{
    struct store *store;

    old_format_make(*state, 6);
    store = fixture_open(*state, STORE_READ);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM contest WHERE"
                                    " blocks=20 AND ending IS NULL"
                                    " AND look_blocks=0 AND most_blocks=0"
                                    " AND look_over_all=0"),
                     1);
    store_close(store);
}

static void old_rows_are_kept_whatever_they_hold(void **state)
{
    struct verify verify;
    struct store *store;
    struct err err;

    old_format_make(*state, 6);
    old_format_change(*state,
                      "UPDATE lease SET purpose='trial', ended_utc=NULL,"
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

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(old_results_say_how_they_were_sampled),
        TEST(a_row_that_was_wrong_stays_wrong),
        TEST(what_was_not_known_becomes_null),
        TEST(what_was_known_stays),
        TEST(format_7_is_read_and_gone_on_with),
        TEST(format_8_is_read_and_gone_on_with),
        TEST(format_9_is_read_and_gone_on_with),
        TEST(format_10_is_read_and_gone_on_with),
        TEST(a_row_of_format_10_that_was_wrong_stays_wrong),
        TEST(a_row_that_format_11_misses_is_missing),
        TEST(the_past_of_format_11_keeps_its_rate),
        TEST(a_damaged_page_of_format_10_leaves_the_other_tables),
        TEST(a_damaged_page_of_format_9_is_said),
        TEST(parameters_that_were_wrong_in_format_9_stay_wrong),
        TEST(a_row_of_format_8_that_was_wrong_stays_wrong),
        TEST(a_confirmation_of_format_6_has_no_looks),
        TEST(old_rows_are_kept_whatever_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
