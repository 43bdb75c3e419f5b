/* test_report_cost.c - hours and dollars at the rates of their times */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define HOUR_NS INT64_C(3600000000000)
#define UTC INT64_C(1700000000000000000)

static void put_held(struct store *store, struct store_held row)
{
    struct err err = { "" };

    if (store_held_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static struct report_cost *load(struct store *store)
{
    struct report_cost *cost;
    struct err err = { "" };

    if (report_cost_load(store, &cost, &err) < 0)
        fail_msg("%s", err.text);
    return cost;
}

/* The fixture has an hour of gpu1 for $0.50, and one of an unpriced host. */
static void another_rate_in_a_later_run_leaves_the_past(void **state)
{
    struct store *store = report_fixture(*state);
    struct store_host host = { .name = "gpu1", .rate_usd_per_h = 5 };
    struct report_cost *cost;
    struct err err = { "" };

    assert_int_equal(store_host_put(store, &host, &err), 0);
    put_held(store, (struct store_held){ .host = "gpu1",
                                         .epoch = UTC,
                                         .end_ns = HOUR_NS / 2,
                                         .rate_usd_per_h = 5,
                                         .phase = "confirm" });
    cost = load(store);
    assert_true(cost->hosts[0].repriced);
    assert_true(cost->hosts[0].rate_usd_per_h == 5);
    assert_true(cost->hosts[0].usd == 0.5 + 2.5);
    assert_true(cost->hosts[0].total_hours == 1.5);
    assert_true(bill_usd(&cost->hosts[0].bills[LEDGER_MEASURING]) == 0.25);
    assert_true(isnan(cost->total_usd));
    assert_true(cost->priced_usd == 3);
    assert_int_equal(cost->unpriced, 1);
    assert_int_equal(cost->n_held, 3);
    report_cost_free(cost);
    store_close(store);
}

/* It has no row in 'host', which is written when it is ready. */
static void a_host_that_never_was_ready_has_its_price(void **state)
{
    struct store *store = report_fixture(*state);
    struct report_cost *cost;
    const struct report_cost_host *late;

    put_held(store, (struct store_held){ .host = "late",
                                         .epoch = UTC,
                                         .end_ns = HOUR_NS,
                                         .rate_usd_per_h = 2,
                                         .phase = "search" });
    cost = load(store);
    late = &cost->hosts[cost->n_hosts - 1];
    assert_string_equal(late->name, "late");
    assert_false(report_cost_is_unpriced(late));
    assert_true(late->usd == 2);
    assert_true(cost->priced_usd == 2.5);
    report_cost_free(cost);
    store_close(store);
}

/* rate= was written into the hosts file after the first run. */
static void a_category_with_and_without_a_price_is_both(void **state)
{
    struct store *store = report_fixture(*state);
    const struct store_interval interval = { .host = "\033[31mgpu2",
                                             .epoch = REPORT_FIXTURE_EPOCH,
                                             .start_ns = HOUR_NS,
                                             .end_ns = 2 * HOUR_NS,
                                             .start_utc = UTC,
                                             .category = "idle" };
    struct report_cost *cost;
    struct bill bill;
    struct err err = { "" };

    put_held(store, (struct store_held){ .host = "\033[31mgpu2",
                                         .epoch = REPORT_FIXTURE_EPOCH,
                                         .start_ns = HOUR_NS,
                                         .end_ns = 2 * HOUR_NS,
                                         .rate_usd_per_h = 2,
                                         .phase = "search" });
    if (store_interval_put(store, &interval, &err) < 0)
        fail_msg("%s", err.text);
    cost = load(store);
    bill = report_cost_category(cost, LEDGER_IDLE);
    assert_true(isnan(bill_usd(&bill)));
    assert_int_equal(bill.held_ns, HOUR_NS + HOUR_NS / 2);
    assert_int_equal(bill.unpriced_ns, HOUR_NS / 2);
    assert_true(bill.priced_usd == 2);
    report_cost_free(cost);
    store_close(store);
}

static void the_proof_is_part_of_the_sum(void **state)
{
    struct store *store = report_fixture(*state);
    struct report_cost *cost;

    put_held(store, (struct store_held){ .host = "gpu1",
                                         .epoch = UTC,
                                         .end_ns = HOUR_NS,
                                         .rate_usd_per_h = 0.5,
                                         .phase = "proof" });
    cost = load(store);
    assert_true(cost->priced_usd == 1);
    assert_true(cost->total_hours == 3);
    assert_true(bill_usd(&cost->proof) == 0.5);
    assert_true(cost->hosts[0].proof_hours == 1);
    report_cost_free(cost);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(another_rate_in_a_later_run_leaves_the_past),
        TEST(a_host_that_never_was_ready_has_its_price),
        TEST(a_category_with_and_without_a_price_is_both),
        TEST(the_proof_is_part_of_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
