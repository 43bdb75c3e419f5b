#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/result/report.h"
#include "coordinator/result/status.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)

static void put_open_lease(struct store *store)
{
    struct store_lease lease = { .epoch = UTC - 1,
                                 .id = 1,
                                 .config = "c4",
                                 .shape = "n16m",
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .attempt = 1,
                                 .host = "gpu1",
                                 .leased_utc = UTC };
    struct err err;

    assert_int_equal(store_lease_put(store, &lease, &err), 0);
    assert_int_equal(store_commit(store, &err), 0);
}

static void a_running_sweep_has_a_holder_a_rate_and_an_eta(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct status status;
    struct err err;

    put_open_lease(store);
    assert_int_equal(report_load_outcomes(store, &report, &err), 0);
    assert_int_equal(
        status_load(store, report, UTC + 60 * NS_PER_S, &status, &err), 0);
    assert_true(status.running);
    assert_int_equal(status.holder.pid, getpid());
    assert_int_equal(status.done, 8);
    assert_int_equal(status.total, 10);
    assert_int_equal(status.asked, 5);
    assert_int_equal(report->counts.tally.tried, 4);
    assert_int_equal(report->counts.tally.correct,
                     report->counts.outcomes[OUTCOME_CORRECT]);
    assert_float_equal(status.per_hour, 480, 1e-3); /* 8 in a minute */
    /* 8.5 of 10 in 60 s, with half of what is out */
    assert_float_equal(status.left_s.likely, 14.1176F, 1e-3);
    assert_true(status.left_s.low < 15 && status.left_s.high > 15);
    assert_float_equal(status.left_usd.likely, 14.1176F * 0.5F / 3600, 1e-5);
    assert_int_equal(status.n_hosts, 2);
    assert_string_equal(status.hosts[0].name, "gpu1");
    assert_int_equal(status.hosts[0].measuring, 1);
    assert_int_equal(status.hosts[0].building, 0);
    assert_string_equal(status.hosts[1].name, "?[31mgpu2");
    status_fini(&status);
    report_free(report);
    store_close(store);
}

/* Until it ends, or what it may ask for is there. */
static void a_search_that_runs_may_ask_for_more(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct status status;
    struct err err;

    assert_int_equal(store_run_start(store,
                                     &(struct store_run){ .epoch = UTC,
                                                          .machine = "here",
                                                          .version = "1",
                                                          .command = "sweep" },
                                     &err),
                     0);
    assert_int_equal(report_load_outcomes(store, &report, &err), 0);
    report->counts.passed = 9;
    report->search.evaluations = 7;
    assert_int_equal(status_load(store, report, UTC, &status, &err), 0);
    assert_int_equal(status.asked, 7 + report->counts.outside);
    assert_int_equal(status.total, 2 * status.asked);
    status_fini(&status);
    report->search.evaluations = 3;
    assert_int_equal(status_load(store, report, UTC, &status, &err), 0);
    assert_int_equal(status.asked, 5);
    status_fini(&status);
    report_free(report);
    store_close(store);
}

static void a_finished_sweep_has_no_holder_and_no_eta(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct status status;
    struct err err;

    store_close(store);
    store = fixture_open(*state, STORE_READ);
    assert_int_equal(report_load_outcomes(store, &report, &err), 0);
    assert_int_equal(
        status_load(store, report, UTC + 60 * NS_PER_S, &status, &err), 0);
    assert_false(status.running);
    assert_true(isnan(status.per_hour) && isnan(status.left_s.likely));
    assert_string_equal(report->sweep.ending, "partial");
    status_fini(&status);
    report_free(report);
    store_close(store);
}

static void put_event(struct store *store, int64_t at_utc, const char *name,
                      const char *text)
{
    struct store_event event = { at_utc, "I", name, text };
    struct err err;

    assert_int_equal(store_event(store, &event, &err), 0);
}

/* In the newest run, the last word of each host counts. */
static void hosts_that_another_sweep_has_are_waited_for(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct status status;
    struct err err;

    put_event(store, 1, "HOST-WAITS", "old: of an earlier run");
    put_event(store, UTC, "HOST-WAITS", "me@gpu1:22: its worker: ada");
    put_event(store, UTC, "HOST-WAITS", "gpu2: its worker: ada");
    put_event(store, UTC, "HOST-WAITS", "gpu2: its worker: \033[31mbob");
    put_event(store, UTC, "HOST-READY", "me@gpu1:22");
    put_event(store, UTC, "HOST-READY", "gpu3");
    put_event(store, UTC, "HOST-WAITS", "gpu4: its worker: ada");
    put_event(store, UTC, "HOST-FAILED", "gpu4: no route");
    assert_int_equal(report_load_outcomes(store, &report, &err), 0);
    assert_int_equal(status_load(store, report, UTC, &status, &err), 0);
    assert_int_equal(status.n_waiting, 1);
    assert_string_equal(status.waiting[0], "gpu2: its worker: ?[31mbob");
    status_fini(&status);
    report_free(report);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_running_sweep_has_a_holder_a_rate_and_an_eta),
        TEST(a_search_that_runs_may_ask_for_more),
        TEST(a_finished_sweep_has_no_holder_and_no_eta),
        TEST(hosts_that_another_sweep_has_are_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
