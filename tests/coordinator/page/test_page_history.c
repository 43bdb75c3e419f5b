#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/page/page_history.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_gpus.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

struct loaded {
    struct store *store;
    struct report *report;
    struct report_cost *cost;
    struct page_history history;
};

static void load(struct loaded *loaded, struct store *store)
{
    struct err err = { "" };

    loaded->store = store;
    if (report_load(store, &loaded->report, &err) < 0 ||
        report_cost_load(store, &loaded->cost, &err) < 0 ||
        page_history_load(store, loaded->report, &loaded->history, &err) < 0)
        fail_msg("%s", err.text);
}

static void unload(struct loaded *loaded)
{
    page_history_fini(&loaded->history);
    report_cost_free(loaded->cost);
    report_free(loaded->report);
    store_close(loaded->store);
}

static double sum(const double *bins)
{
    double all = 0;

    for (size_t b = 0; b < PAGE_HISTORY_BINS; b++)
        all += bins[b];
    return all;
}

static const struct page_host *find(const struct page_history *history,
                                    const char *name)
{
    for (size_t i = 0; i < history->n_hosts; i++)
        if (strcmp(history->hosts[i].name, name) == 0)
            return &history->hosts[i];
    fail_msg("there is no '%s'", name);
    return NULL;
}

/* Bins hold all of the time that the bill has, and no bin more than its own. */
static void bins_add_up_to_the_bill(void **state)
{
    struct loaded loaded;

    load(&loaded, report_fixture(*state));
    assert_true(loaded.history.total_s > 0);
    for (size_t i = 0; i < loaded.cost->n_hosts; i++) {
        const struct report_cost_host *host = &loaded.cost->hosts[i];
        const struct page_host *lane = find(&loaded.history, host->name);

        for (int c = 0; c < REPORT_COST_CATEGORIES; c++)
            assert_true(fabs(sum(lane->seconds[c]) - 3600 * host->hours[c]) <
                        1e-6);
    }
    for (size_t i = 0; i < loaded.history.n_hosts; i++)
        for (size_t b = 0; b < PAGE_HISTORY_BINS; b++) {
            double held = 0;

            for (int c = 0; c < REPORT_COST_CATEGORIES; c++)
                held += loaded.history.hosts[i].seconds[c][b];
            assert_true(held <=
                        loaded.history.total_s / PAGE_HISTORY_BINS + 1e-6);
        }
    unload(&loaded);
}

/* Each configuration has one turn; those that are settled come first. */
static void turns_are_an_order(void **state)
{
    struct loaded loaded;
    size_t seen = 0, n;

    load(&loaded, report_fixture(*state));
    n = loaded.report->n_configs;
    for (size_t i = 0; i < n; i++) {
        assert_true(loaded.history.turn[i] < n);
        seen |= (size_t)1 << loaded.history.turn[i];
        if (strcmp(loaded.report->configs[i].key, REPORT_PENDING) == 0) {
            assert_int_equal(loaded.history.turn[i], n - 1);
            assert_true(isnan(loaded.history.settled_s[i]));
        }
    }
    assert_int_equal(seen, ((size_t)1 << n) - 1);
    unload(&loaded);
}

/* A confirmation that came later counts for the GPUs, not for the turns. */
static void gpus_are_those_of_the_report(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.8, 0.9 } };
    struct page_history history;
    struct err err = { "" };

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    assert_int_equal(page_history_load(s.store, s.report, &history, &err), 0);
    assert_int_equal(history.n_gpus, s.report->n_gpus);
    for (size_t i = 0; i < history.n_gpus; i++)
        assert_string_equal(history.gpus[i].uuid, s.report->gpus[i].uuid);
    page_history_fini(&history);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bins_add_up_to_the_bill, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(turns_are_an_order, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(gpus_are_those_of_the_report,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
