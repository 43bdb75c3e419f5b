#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/stored/pass_rows.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)

/* What was told, as text. */
struct told {
    char text[512];
};

static void note(struct told *told, const char *word, double number)
{
    size_t n = strlen(told->text);

    snprintf(told->text + n, sizeof(told->text) - n, "%s %g;", word, number);
}

static void put_result(struct store *store, const char *nonce,
                       const char *config, const char *purpose, int round)
{
    struct store_result row = fixture_result(nonce, config);
    struct err err = { "" };

    row.id.purpose = purpose;
    row.id.round = round;
    if (store_result_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_lease(struct store *store, int id, const char *purpose,
                      int round)
{
    struct store_lease row = { .epoch = UTC,
                               .id = id,
                               .config = "c1",
                               .shape = "n16m",
                               .purpose = purpose,
                               .stage = "measure",
                               .round = round,
                               .attempt = 1,
                               .host = "gpu1",
                               .gpu = "GPU-1",
                               .leased_utc = UTC };
    struct err err = { "" };

    if (store_lease_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_run_of(struct store *store, const char *name, const char *nonce,
                       const char *purpose, int round, const char *host,
                       const char *outcome)
{
    struct store_tool row = { .nonce = nonce,
                              .epoch = UTC,
                              .purpose = purpose,
                              .name = name,
                              .config = "c1",
                              .shape = "n16m",
                              .round = round,
                              .attempt = 1,
                              .key = name,
                              .host = host,
                              .gpu = "GPU-1",
                              .outcome = outcome,
                              .received_utc = UTC };
    struct err err = { "" };

    if (store_tool_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_run(struct store *store, const char *nonce, const char *purpose,
                    int round, const char *host, const char *outcome)
{
    put_run_of(store, "flash", nonce, purpose, round, host, outcome);
}

static void note_canary(void *arg, const struct pass_rows_canary *row)
{
    note(arg, row->gpu, row->median_s);
}

static void canaries_of_the_same_measurement_are_told(void **state)
{
    static const struct store_outcome key = {
        .config = "c1", .shape = "n16m", .source_key = "5c", .measure_key = "3e"
    };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct told told = { "" };
    struct err err;

    put_result(store, "n1", "c1", "canary", 0);
    put_result(store, "n2", "c1", "canary", 1);
    put_result(store, "n3", "c2", "canary", 2);
    put_result(store, "n4", "c1", "screen", 0);
    assert_int_equal(pass_rows_canaries(store, &key, note_canary, &told, &err),
                     0);
    assert_string_equal(told.text, "GPU-1 0.0011;GPU-1 0.0011;");
    store_close(store);
}

static void note_result(void *arg, const struct pass_rows_result *row)
{
    assert_string_equal(row->shape, "n16m");
    assert_string_equal(row->source_key, "5c");
    assert_string_equal(row->measure_key, "3e");
    assert_string_equal(row->gpu, "GPU-1");
    assert_int_equal(row->received_utc, UTC + 1);
    note(arg, row->config, (double)row->round);
}

static void results_that_settled_something_are_told(void **state)
{
    struct store_outcome outcome = { .config = "c1",
                                     .shape = "n16m",
                                     .source_key = "5c",
                                     .measure_key = "3e",
                                     .outcome = "correct",
                                     .nonce = "n1",
                                     .attempts = 1 };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct told told = { "" };
    int64_t configs;
    struct err err;

    fixture_owners(store, "c1");
    put_result(store, "n1", "c1", "screen", 3);
    put_result(store, "n2", "c2", "screen", 0);
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    assert_int_equal(pass_rows_results(store, note_result, &told, &err), 0);
    assert_string_equal(told.text, "c1 3;");
    assert_int_equal(pass_rows_settled_configs(store, &configs, &err), 0);
    assert_int_equal(configs, 1);
    store_close(store);
}

static void note_round(void *arg, const struct pass_rows_round *row)
{
    note(arg, row->config, (double)row->round);
}

static void rounds_go_on_where_leases_left_them(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct told told = { "" };
    int64_t round;
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(pass_rows_canary_round(store, &round, &err), 0);
    assert_int_equal(round, 0);
    put_lease(store, 1, "screen", 0);
    put_lease(store, 2, "screen", 1);
    put_lease(store, 3, "screen", 4);
    put_lease(store, 4, "canary", 6);
    assert_int_equal(pass_rows_rounds(store, note_round, &told, &err), 0);
    assert_string_equal(told.text, "c1 4;");
    assert_int_equal(pass_rows_canary_round(store, &round, &err), 0);
    assert_int_equal(round, 7);
    store_close(store);
}

static void note_text(void *arg, const char *text)
{
    note(arg, text, 0);
}

static void gpus_quarantined_since_then_are_told(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_gpu gpu = {
        .uuid = "GPU-1", .host = "gpu1", .name = "L4", .facts = "{}"
    };
    struct store_event event = { UTC, "W", "GPU-QUARANTINED",
                                 "GPU-1: still moving" };
    struct told told = { "" };
    struct err err;

    assert_int_equal(store_gpu_put(store, &gpu, &err), 0);
    assert_int_equal(store_event(store, &event, &err), 0);
    assert_int_equal(
        pass_rows_quarantined(store, UTC + 1, note_text, &told, &err), 0);
    assert_string_equal(told.text, "");
    assert_int_equal(pass_rows_quarantined(store, UTC, note_text, &told, &err),
                     0);
    assert_string_equal(told.text, "GPU-1 0;");
    store_close(store);
}

static void runs_of_tools_are_told_by_their_rounds(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct told told = { "" };
    int64_t n;
    const struct pass_rows_externals flash = { "flash", 1000, 2000 };
    const struct pass_rows_externals cudnn = { "cudnn", 1000, 2000 };
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(pass_rows_profile_round(store, 1, 100, &n, &err), 0);
    assert_int_equal(n, 0);
    put_run(store, "n1", "external", 1001, "gpu1", "ran");
    put_run(store, "n2", "external", 1002, "gpu1", "failed");
    put_run(store, "n3", "external", 1003, "gpu2", "ran");
    put_run(store, "n4", "external", 2000, "gpu3", "failed");
    put_run(store, "n5", "profile", 8, "gpu1", "ran");
    put_run(store, "n8", "profile", 104, "gpu1", "failed");
    put_run_of(store, "cudnn", "n6", "external", 1001, "gpu2", "ran");
    put_run_of(store, "cudnn", "n7", "external", 1003, "gpu2", "failed");
    assert_int_equal(pass_rows_external_blocks(store, &flash, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(pass_rows_external_blocks(store, &cudnn, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(
        pass_rows_external_failures(store, &flash, note_text, &told, &err), 0);
    assert_string_equal(told.text, "gpu1 0;");
    assert_int_equal(pass_rows_profile_round(store, 1, 100, &n, &err), 0);
    assert_int_equal(n, 8);
    assert_int_equal(pass_rows_profile_round(store, 100, 200, &n, &err), 0);
    assert_int_equal(n, 104);
    assert_int_equal(pass_rows_profile_round(store, 200, 300, &n, &err), 0);
    assert_int_equal(n, 199);
    store_close(store);
}

#define FRESH(test) \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(canaries_of_the_same_measurement_are_told),
        FRESH(results_that_settled_something_are_told),
        FRESH(rounds_go_on_where_leases_left_them),
        FRESH(gpus_quarantined_since_then_are_told),
        FRESH(runs_of_tools_are_told_by_their_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
