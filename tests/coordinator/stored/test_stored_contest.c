#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/stored/stored_contest.h"
#include "tests/coordinator/store/store_fixture.h"

static char told[256];

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

/* Passes 3 and 5 are confirmations of the sweep, 7 is its bench. */
static struct store *three_passes(const char *path)
{
    static const struct {
        int64_t pass;
        const char *kind;
    } passes[] = { { 3, "confirm" }, { 5, "confirm" }, { 7, "bench" } };
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        const struct store_contest row = { .pass = passes[i].pass,
                                           .sweep = 1,
                                           .kind = passes[i].kind,
                                           .alpha = 0.05 };

        ok(store_contest_put(store, &row, &err), &err);
    }
    return store;
}

static void tell_pass(void *arg, const struct store_contest *contest)
{
    *(int64_t *)arg = contest->pass;
}

/* The pass that is found, or 0. */
static int64_t found(struct store *store, int64_t sweep, const char *kind,
                     int64_t pass)
{
    int64_t is = 0;
    struct err err = { "" };
    int rc =
        stored_contest_find(store, sweep, kind, pass, tell_pass, &is, &err);

    ok(rc, &err);
    assert_int_equal(rc, is > 0);
    return is;
}

static void the_newest_of_its_kind_is_found_or_the_one_that_is_named(void **s)
{
    struct store *store = three_passes(*s);
    struct err err = { "" };
    int64_t last;

    assert_int_equal(found(store, 1, "confirm", 0), 5);
    assert_int_equal(found(store, 1, "confirm", 3), 3);
    assert_int_equal(found(store, 1, "bench", 0), 7);
    assert_int_equal(found(store, 1, "bench", 3), 0);
    assert_int_equal(found(store, 2, "confirm", 0), 0);
    ok(stored_contest_last(store, &last, &err), &err);
    assert_int_equal(last, 7);
    store_close(store);
}

static void tell_entry(void *arg, const struct store_contestant *entry)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s:%s ",
             entry->config, entry->role);
}

static void tell_shape(void *arg, const struct store_contest_shape *shape)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s:%s ",
             shape->shape, shape->measure_key);
}

static void put_two(struct store *store, int64_t pass, int64_t position,
                    const char *shape, const char *role)
{
    const struct store_contestant entry = { .pass = pass,
                                            .position = position,
                                            .config = FIXTURE_KEY,
                                            .source_key = "5c",
                                            .role = role,
                                            .reason = "" };
    const struct store_contest_shape row = { pass, position, shape, "3e" };
    struct err err = { "" };

    ok(store_contestant_put(store, &entry, &err), &err);
    ok(store_contest_shape_put(store, &row, &err), &err);
}

static void its_contestants_and_shapes_come_in_order(void **state)
{
    struct store *store = three_passes(*state);
    struct err err = { "" };

    put_two(store, 5, 1, "n2", "finalist");
    put_two(store, 5, 0, "n1", "baseline");
    put_two(store, 3, 0, "n3", "baseline");
    told[0] = '\0';
    ok(stored_contest_entries(store, 5, tell_entry, NULL, &err), &err);
    assert_string_equal(told,
                        FIXTURE_KEY ":baseline " FIXTURE_KEY ":finalist ");
    told[0] = '\0';
    ok(stored_contest_shapes(store, 5, tell_shape, NULL, &err), &err);
    assert_string_equal(told, "n1:3e n2:3e ");
    store_close(store);
}

static void tell_result(void *arg, const struct stored_contest_result *result)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof(told) - strlen(told),
             "%lld,%lld,%lld ", (long long)result->entry,
             (long long)result->shape, (long long)result->round);
}

static void tell_number(void *arg, int64_t entry)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%lld ",
             (long long)entry);
}

/* Of rounds 10 to 13, those between 10 and 13, the newest first put. */
static void its_results_are_those_between_its_rounds(void **state)
{
    struct store *store = three_passes(*state);
    struct store_result row = fixture_result("n", FIXTURE_KEY);
    struct err err = { "" };
    char nonce[8];

    put_two(store, 5, 0, row.id.shape, "baseline");
    row.id.purpose = "confirm";
    row.id.source_key = "5c";
    row.id.measure_key = "3e";
    row.nonce = nonce;
    for (int round = 13; round >= 10; round--) {
        snprintf(nonce, sizeof(nonce), "n%d", round);
        row.id.round = round;
        ok(store_result_put(store, &row, &err), &err);
    }
    told[0] = '\0';
    ok(stored_contest_results(store, 5, 10, 13, tell_result, NULL, &err), &err);
    assert_string_equal(told, "0,0,11 0,0,12 ");
    told[0] = '\0';
    ok(stored_contest_unjudged(store, 5, tell_number, NULL, &err), &err);
    assert_string_equal(told, "");
    row.nonce = "u1";
    row.id.purpose = "screen"; /* of whatever purpose */
    row.outcome = "correct";
    row.detail = "2 elements of y " OUTCOME_UNJUDGED;
    ok(store_result_put(store, &row, &err), &err);
    ok(stored_contest_unjudged(store, 5, tell_number, NULL, &err), &err);
    assert_string_equal(told, "0 ");
    store_close(store);
}

static void tell_output(void *arg, const struct stored_contest_output *output)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%lld:%s ",
             (long long)output->round, output->output);
}

/* Two rounds of cublas, of which one failed, and one of another program. */
static void what_an_external_baseline_printed_comes_by_round(void **state)
{
    static const struct {
        const char *nonce, *name, *outcome, *output;
        int round;
    } runs[] = { { "t1", "cublas", "ran", "b", 12 },
                 { "t2", "cublas", "ran", "a", 11 },
                 { "t3", "cublas", "crash", "", 13 },
                 { "t4", "cutlass", "ran", "c", 11 },
                 { "t5", "cublas", "ran", "d", 14 } };
    struct store *store = three_passes(*state);
    struct err err = { "" };

    put_two(store, 5, 0, "n1", "baseline");
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const struct store_tool row = { .nonce = runs[i].nonce,
                                        .epoch = FIXTURE_EPOCH,
                                        .purpose = "external",
                                        .name = runs[i].name,
                                        .shape = "n1",
                                        .round = runs[i].round,
                                        .outcome = runs[i].outcome,
                                        .output = runs[i].output };

        ok(store_tool_put(store, &row, &err), &err);
    }
    told[0] = '\0';
    ok(stored_contest_outputs(store, "cublas", 5, 10, 14, tell_output, NULL,
                              &err),
       &err);
    assert_string_equal(told, "11:a 12:b ");
    store_close(store);
}

static void what_a_configuration_was_built_from_is_known_or_not(void **state)
{
    struct store *store = three_passes(*state);
    const struct store_config config = { .key = "c2",
                                         .sweep = 1,
                                         .params = "{}",
                                         .warnings = "[]",
                                         .source_key = "5c" };
    char key[HASH_HEX] = "as it was";
    struct err err = { "" };

    ok(store_config_put(store, &config, &err), &err);
    assert_int_equal(stored_contest_source(store, "c9", key, &err), 0);
    assert_string_equal(key, "as it was");
    assert_int_equal(stored_contest_source(store, "c2", key, &err), 1);
    assert_string_equal(key, "5c");
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_of_its_kind_is_found_or_the_one_that_is_named),
        TEST(its_contestants_and_shapes_come_in_order),
        TEST(its_results_are_those_between_its_rounds),
        TEST(what_an_external_baseline_printed_comes_by_round),
        TEST(what_a_configuration_was_built_from_is_known_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
