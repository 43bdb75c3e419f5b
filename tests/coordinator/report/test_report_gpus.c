#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)
#define MINUTE INT64_C(60000000000)
#define BASELINE REPORT_BASELINE
#define FASTER REPORT_FASTER
#define PENDING REPORT_PENDING

static void put(struct store *store, const char *nonce, const char *purpose,
                const char *config, const char *gpu, int round, int minute,
                double seconds)
{
    double samples[] = { seconds, seconds, seconds };
    struct store_result row = fixture_result(nonce, config);
    struct err err;

    row.id.purpose = purpose;
    row.id.round = round;
    row.gpu = gpu;
    row.timing.samples = (struct reals){ samples, 3 };
    row.received_utc = UTC + minute * MINUTE;
    if (store_result_put(store, &row, &err) != 1)
        fail_msg("%s %s", nonce, err.text);
}

/* Its canary steps from 'seconds' by 'change' between minutes 10 and 20. */
static void canaries(struct store *store, const char *gpu, double seconds,
                     double change)
{
    static int round;

    for (int minute = 0; minute <= 30; minute += 10, round++) {
        char *nonce = mem_printf("%s-%d", gpu, minute);

        put(store, nonce, "canary", BASELINE, gpu, round, minute,
            seconds * (minute < 20 ? 1 : 1 + change));
        free(nonce);
    }
}

/* The one that is pending in the fixture, on a GPU and its second shape. */
static void settle(struct store *store, const char *gpu, int minute,
                   double seconds)
{
    static const char *const shapes[] = { "n16m", "odd" };
    double samples[] = { seconds, seconds };
    struct err err;

    for (int i = 0; i < 2; i++) {
        struct store_result row =
            fixture_result(i ? "odd" : "headline", PENDING);

        row.id.shape = shapes[i];
        row.gpu = gpu;
        row.timing.samples = (struct reals){ samples, 2 };
        row.received_utc = UTC + minute * MINUTE;
        assert_int_equal(store_result_put(store, &row, &err), 1);
        assert_int_equal(
            store_outcome_put(store,
                              &(struct store_outcome){
                                  PENDING, shapes[i], "5c", "3e", "correct", "",
                                  row.nonce, seconds, 1, UTC + 7 },
                              &err),
            1);
    }
}

static struct report *load(struct store *store)
{
    struct report *report;
    struct err err;

    if (report_load(store, &report, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
    return report;
}

static const struct report_config *find(const struct report *report,
                                        const char *key)
{
    for (size_t i = 0; i < report->n_configs; i++)
        if (strcmp(report->configs[i].key, key) == 0)
            return &report->configs[i];
    fail();
    return NULL;
}

static void cards_that_differ_do_not_choose_the_winner(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;

    canaries(store, "GPU-1", 1e-3, 0); /* where the others were measured */
    canaries(store, "GPU-2", 1.08e-3, 0);
    settle(store, "GPU-2", 5, 0.83e-3); /* on the other 0.769, before 0.8 */
    report = load(store);
    assert_true(report->normalised);
    assert_int_equal(find(report, PENDING)->rank, 1);
    assert_int_equal(find(report, FASTER)->rank, 2);
    assert_int_equal(report->n_gpus, 2);
    assert_string_equal(report->gpus[0].uuid, "GPU-1");
    assert_near(report->gpus[0].canary.offset, 1 / 1.08 - 1, 1e-9);
    assert_near(report->gpus[1].canary.offset, 0.08, 1e-9);
    assert_near(find(report, PENDING)->cells[0].normalised_s /
                    find(report, FASTER)->cells[0].normalised_s,
                0.83 / 1.08 / 0.8, 1e-9);
    assert_near(find(report, PENDING)->cells[0].summary.median, 0.83e-3, 1e-9);
    report_free(report);
}

static void drift_does_not_choose_the_winner(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;

    canaries(store, "GPU-1", 1e-3, 0.1); /* the others: at minute 0 */
    settle(store, "GPU-1", 25, 0.85e-3);
    report = load(store);
    assert_int_equal(find(report, PENDING)->rank, 1);
    assert_true(report->gpus[0].canary.drifts);
    report_free(report);
}

static void without_canaries_the_median_ranks(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;

    settle(store, "GPU-2", 5, 0.83e-3);
    report = load(store);
    assert_false(report->normalised);
    assert_int_equal(find(report, FASTER)->rank, 1);
    assert_int_equal(find(report, PENDING)->rank, 2);
    assert_near(find(report, PENDING)->cells[0].time_s, 0.83e-3, 1e-9);
    assert_true(isnan(find(report, PENDING)->cells[0].normalised_s));
    report_free(report);
}

/* Canaries of other sources are none. */
static void only_current_canaries_count(void **state)
{
    struct store *store = report_fixture(*state);
    struct store_result old = fixture_result("old", BASELINE);
    struct report *report;
    struct err err;

    old.id.purpose = "canary";
    old.id.source_key = "0d";
    assert_int_equal(store_result_put(store, &old, &err), 1);
    old.nonce = "wrong";
    old.id.source_key = "5c";
    old.outcome = "correctness";
    assert_int_equal(store_result_put(store, &old, &err), 1);
    report = load(store);
    assert_false(report->normalised);
    report_free(report);
}

static void the_table_of_gpus(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    canaries(store, "GPU-1", 1e-3, 0.05);
    canaries(store, "GPU-2", 1.08e-3, 0);
    settle(store, "GPU-2", 5, 0.83e-3);
    put(store, "again", "screen", PENDING, "GPU-1", 1, 6, 0.77e-3);
    assert_int_equal(
        store_event(store,
                    &(struct store_event){ UTC + MINUTE, "W", "GPU-QUARANTINED",
                                           "GPU-1: its canary failed 2 times: "
                                           "wrong at 7" },
                    &err),
        0);
    report = load(store);
    report_gpus_table(report, to);
    fclose(to);
    golden_check("report_gpus.txt", text);
    free(text);
    report_free(report);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(cards_that_differ_do_not_choose_the_winner),
        TEST(drift_does_not_choose_the_winner),
        TEST(without_canaries_the_median_ranks),
        TEST(only_current_canaries_count),
        TEST(the_table_of_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
