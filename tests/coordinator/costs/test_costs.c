/* test_costs.c - what hours and dollars were spent on */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/costs/costs.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/store/store_held.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define HOUR_NS INT64_C(3600000000000)
#define S_NS INT64_C(1000000000)
#define UTC INT64_C(1700000000000000000)

static struct store *store;
static struct report_cost *cost;
static struct costs *costs;

static int tear_down(void **state)
{
    costs_free(costs);
    report_cost_free(cost);
    store_close(store);
    costs = NULL;
    cost = NULL;
    return fixture_teardown(state);
}

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void load(const char *winner)
{
    struct err err = { "" };

    ok(store_commit(store, &err), &err);
    ok(report_cost_load(store, &cost, &err), &err);
    ok(costs_load(store, cost, winner, &costs, &err), &err);
}

static const struct costs_line *find(enum costs_scope scope, const char *name,
                                     const char *item)
{
    for (size_t i = 0; i < costs->n; i++)
        if (costs->lines[i].scope == scope &&
            (!name || strcmp(costs->lines[i].name, name) == 0) &&
            strcmp(costs->lines[i].item, item) == 0)
            return &costs->lines[i];
    fail_msg("no line %s %s", name ? name : "", item);
    return NULL;
}

static void put_lease(int64_t id, const char *gpu, const char *ending,
                      int64_t attempt, int64_t from_s, int64_t to_s)
{
    struct store_lease lease = { .epoch = REPORT_FIXTURE_EPOCH,
                                 .id = id,
                                 .config = REPORT_FASTER,
                                 .shape = *gpu ? "n16m" : "",
                                 .purpose = *gpu ? "screen" : "kernel",
                                 .stage = *gpu ? "measure" : "build",
                                 .round = id,
                                 .attempt = attempt,
                                 .host = "gpu1",
                                 .gpu = gpu,
                                 .leased_utc = UTC + from_s * S_NS };
    struct err err = { "" };

    ok(store_lease_put(store, &lease, &err), &err);
    ok(store_lease_end(store, REPORT_FIXTURE_EPOCH, id, ending,
                       UTC + to_s * S_NS, &err),
       &err);
}

/* The fixture holds gpu1 with GPU-1 for an hour at $0.50. */
static void the_time_of_a_gpu_adds_up_to_what_it_was_held(void **state)
{
    double seconds = 0, usd = 0;

    store = report_fixture(*state);
    put_lease(1, "", "done", 1, 100, 400);
    put_lease(2, "GPU-1", "lost", 1, 300, 500);
    load(REPORT_FASTER);
    assert_true(find(COSTS_GPU, "gpu1 GPU-1", "waiting")->seconds == 200);
    assert_true(find(COSTS_GPU, "gpu1 GPU-1", "lost")->seconds == 200);
    for (size_t i = 0; i < costs->n; i++) {
        if (costs->lines[i].scope != COSTS_GPU ||
            strcmp(costs->lines[i].name, "gpu1 GPU-1") != 0)
            continue;
        seconds += costs->lines[i].seconds;
        usd += costs->lines[i].usd;
    }
    assert_true(seconds == 3600);
    assert_near(usd, 0.5, 1e-12);
    assert_true(isnan(find(COSTS_GPU, "?[31mgpu2 GPU-2", "idle")->usd));
}

static void phases_and_runs_have_the_rates_of_their_times(void **state)
{
    struct store_held proof = { .host = "gpu1",
                                .epoch = UTC + 9,
                                .end_ns = HOUR_NS / 2,
                                .rate_usd_per_h = 2,
                                .phase = "proof" };
    struct err err = { "" };

    store = report_fixture(*state);
    ok(store_held_put(store, &proof, &err), &err);
    load(NULL);
    assert_true(find(COSTS_PHASE, "", "search")->seconds == 7200);
    assert_true(isnan(find(COSTS_PHASE, "", "search")->usd));
    assert_true(find(COSTS_PHASE, "", "proof")->usd == 1);
    assert_true(find(COSTS_RUN, "1700000000000000009", "proof")->usd == 1);
    assert_true(find(COSTS_RUN, NULL, "search")->seconds == 7200);
}

/* Two builds of 2 s and one from the cache; 4 results of 5 s. */
static void what_was_saved_is_counted_at_the_means(void **state)
{
    static const char *const configs[] = { REPORT_BASELINE, REPORT_FASTER,
                                           REPORT_WRONG };
    double measured;

    store = report_fixture(*state);
    for (int i = 0; i < 3; i++) {
        char nonce[] = { 'b', (char)('0' + i), '\0' };
        struct store_build build = fixture_build(nonce, configs[i]);
        struct err err = { "" };

        build.epoch = REPORT_FIXTURE_EPOCH;
        build.seconds = 2;
        build.cached = i == 2;
        ok(store_build_put(store, &build, &err), &err);
    }
    load(NULL);
    measured =
        (double)fixture_number(store, "SELECT sum(held_s) * 1000000 FROM result"
                                      " WHERE purpose='screen'") /
        1e6;
    assert_int_equal(find(COSTS_SAVED, "", "cache")->count, 1);
    assert_true(find(COSTS_SAVED, "", "cache")->seconds == 2);
    assert_near(find(COSTS_SAVED, "", "cache")->usd, 2 * 0.5 / 3600, 1e-12);
    assert_int_equal(find(COSTS_SAVED, "", "gates")->count, 3);
    assert_near(find(COSTS_SAVED, "", "gates")->seconds, 3 * (2 + measured / 8),
                1e-5);
    assert_int_equal(find(COSTS_SAVED, "", "shared_code")->count, 0);
    assert_near(find(COSTS_SERIAL, "", "tuner")->seconds, 3 * 2 + measured,
                1e-5);
}

static void failures_and_retries_have_their_price(void **state)
{
    struct err err = { "" };

    store = report_fixture(*state);
    put_lease(1, "GPU-1", "lost", 1, 0, 5);
    put_lease(2, "GPU-1", "done", 2, 5, 9);
    ok(store_interval_put(
           store,
           &(struct store_interval){ "gpu1", REPORT_FIXTURE_EPOCH, HOUR_NS,
                                     HOUR_NS + 6 * S_NS, UTC, "failed", 2 },
           &err),
       &err);
    load(REPORT_FASTER);
    assert_true(find(COSTS_SPENT, "", "failures")->seconds == 6);
    /* the other host has no price, but did not fail */
    assert_near(find(COSTS_SPENT, "", "failures")->usd, 6 * 0.5 / 3600, 1e-12);
    assert_int_equal(find(COSTS_SPENT, "", "retries")->count, 1);
    assert_true(find(COSTS_SPENT, "", "retries")->seconds == 6);
    assert_near(find(COSTS_SPENT, "", "retries")->usd, 6 * 0.5 / 3600, 1e-12);
    assert_true(find(COSTS_SPENT, "", "until_winner")->seconds < 7200);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_time_of_a_gpu_adds_up_to_what_it_was_held),
        TEST(phases_and_runs_have_the_rates_of_their_times),
        TEST(what_was_saved_is_counted_at_the_means),
        TEST(failures_and_retries_have_their_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
