#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/inspect/watch.h"
#include "coordinator/result/report.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)

static struct err err;

static struct watch *load(struct store *store, int64_t now_utc)
{
    struct watch *watch;

    if (watch_load(store, now_utc, &watch, &err) < 0)
        fail_msg("%s", err.text);
    return watch;
}

static void what_is_counted_is_what_the_report_counts(void **state)
{
    struct store *store = report_fixture(*state);
    struct watch *watch = load(store, UTC + NS_PER_S);
    const struct progress_facts *facts = watch_facts(watch);
    struct report *report;

    assert_int_equal(report_load(store, &report, &err), 0);
    assert_true(watch_is_running(watch)); /* this process has the lock */
    assert_string_equal(facts->name, report->name);
    assert_int_equal(facts->kind, PROGRESS_TRIED);
    assert_int_equal(facts->total, report->n_configs);
    assert_int_equal(facts->settled, report->counts.tally.tried);
    assert_int_equal(facts->correct, report->counts.outcomes[OUTCOME_CORRECT]);
    report_free(report);
    watch_free(watch);
    store_close(store);
}

/* The same as the report says of the headline, without its canaries. */
static void the_best_is_the_fastest_correct_one(void **state)
{
    struct store *store = report_fixture(*state);
    struct watch *watch = load(store, UTC + NS_PER_S);
    const struct progress_best *best = &watch_facts(watch)->best;
    struct report *report;

    assert_int_equal(report_load(store, &report, &err), 0);
    assert_float_equal(best->s, report->configs[0].cells[0].summary.median,
                       1e-12);
    assert_float_equal(best->baseline_s,
                       report_baseline(report)->cells[0].summary.median, 1e-12);
    assert_string_equal(best->text, "BLOCK_SIZE=128 VECTOR=true");
    report_free(report);
    watch_free(watch);
    store_close(store);
}

static void put_event(struct store *store, const char *name, const char *text)
{
    struct store_event event = { UTC, "I", name, text };

    assert_int_equal(store_event(store, &event, &err), 0);
}

static void put_lease(struct store *store, int64_t id, const char *stage,
                      int64_t leased_utc)
{
    bool build = strcmp(stage, "build") == 0;
    struct store_lease lease = { .epoch = UTC - 1,
                                 .id = id,
                                 .config = "21e74603efe52337c74c99b3af18d1ff",
                                 .shape = build ? "" : "n16m",
                                 .purpose = build ? "kernel" : "screen",
                                 .stage = stage,
                                 .attempt = 1,
                                 .host = "gpu1",
                                 .gpu = build ? "" : "GPU-1",
                                 .leased_utc = leased_utc };

    assert_int_equal(store_lease_put(store, &lease, &err), 0);
}

static const struct progress_lane *lane_of(const struct watch *watch,
                                           const char *host)
{
    const struct progress_facts *facts = watch_facts(watch);

    for (size_t i = 0; i < facts->n_lanes; i++)
        if (strcmp(facts->lanes[i].host, host) == 0)
            return &facts->lanes[i];
    fail_msg("no lane of %s", host);
    return NULL;
}

static void a_lane_says_what_its_gpu_does(void **state)
{
    struct store *store = report_fixture(*state);
    const struct progress_lane *lane;
    struct watch *watch;

    put_event(store, "HOST-READY", "gpu1");
    put_lease(store, 1, "measure", UTC);
    put_lease(store, 2, "measure", UTC + NS_PER_S); /* waits for the first */
    put_lease(store, 3, "build", UTC);
    watch = load(store, UTC + 3 * NS_PER_S);
    lane = lane_of(watch, "gpu1");
    assert_int_equal(lane->state, PROGRESS_LANE_MEASURES);
    assert_string_equal(lane->text, "BLOCK_SIZE=128 VECTOR=true");
    assert_float_equal(lane->measured_s, 3, 1e-9);
    assert_int_equal(lane->building, 1);
    assert_int_equal(watch_facts(watch)->building, 1);
    watch_free(watch);
    store_close(store);
}

static void a_lane_says_why_its_host_does_nothing(void **state)
{
    static const struct {
        const char *event, *said, *text;
        enum progress_lane_state state;
    } rows[] = {
        { "HOST-WAITS", "gpu1: its worker: ada", "its worker: ada",
          PROGRESS_LANE_WAITS },
        { "HOST-READY", "gpu1", "", PROGRESS_LANE_IDLE },
        { "GPU-QUARANTINED", "GPU-1: it drifts", "quarantined",
          PROGRESS_LANE_FAILED },
        { "HOST-LOST", "gpu1", "", PROGRESS_LANE_LOST },
        { "HOST-FAILED", "gpu1: no route", "no route", PROGRESS_LANE_FAILED },
    };
    struct store *store = report_fixture(*state);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct progress_lane *lane;
        struct watch *watch;

        put_event(store, rows[i].event, rows[i].said);
        watch = load(store, UTC);
        lane = lane_of(watch, "gpu1");
        assert_int_equal(lane->state, rows[i].state);
        assert_string_equal(lane->text, rows[i].text);
        watch_free(watch);
    }
    store_close(store);
}

/* Two blocks of the baseline and two finalists, at one shape. */
static void a_confirmation_counts_its_measurements(void **state)
{
    struct scene scene = { .n_gpus = 1, .times = { 2, 1, 1.5 } };
    struct watch *watch;

    scene_begin(&scene, *state, 2);
    scene_put_blocks(&scene, 2);
    watch = load(scene.store, UTC + NS_PER_S);
    assert_int_equal(watch_facts(watch)->kind, PROGRESS_MEASURED);
    assert_int_equal(watch_facts(watch)->settled, 2 * 3);
    assert_int_equal(watch_facts(watch)->total, SCENE_BLOCKS * 3);
    watch_free(watch);
    scene_end(&scene, true);
    watch = load(scene.store, UTC + NS_PER_S);
    assert_int_equal(watch_facts(watch)->kind, PROGRESS_TRIED);
    watch_free(watch);
    scene_close(&scene);
}

static void a_sweep_that_ended_has_no_lanes(void **state)
{
    struct store *store = report_fixture(*state);
    struct watch *watch;

    store_close(store);
    store = fixture_open(*state, STORE_READ);
    watch = load(store, UTC);
    assert_false(watch_is_running(watch));
    assert_int_equal(watch_facts(watch)->n_lanes, 0);
    assert_int_equal(watch_facts(watch)->hosts, 0);
    watch_free(watch);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_counted_is_what_the_report_counts),
        TEST(the_best_is_the_fastest_correct_one),
        TEST(a_lane_says_what_its_gpu_does),
        TEST(a_lane_says_why_its_host_does_nothing),
        TEST(a_confirmation_counts_its_measurements),
        TEST(a_sweep_that_ended_has_no_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
