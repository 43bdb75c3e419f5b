/* What a command was thought to take, beside what it took. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/costs/foreseen.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/store/store_fixture.h"

#define S_NS INT64_C(1000000000)
#define UTC FIXTURE_EPOCH

#define FROM_SWEEP                                                             \
    "{\"wall_s_low\": 40, \"wall_s_likely\": 50, \"wall_s_high\": 61, "        \
    "\"usd_low\": 0.012, \"usd_likely\": 0.015, \"usd_high\": 0.018, \"from\"" \
    ": \"an earlier sweep\"}"

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void begin(struct store *store, int64_t at_s, const char *text)
{
    struct err err = { "" };

    ok(store_event(store,
                   &(struct store_event){ .at_utc = UTC + at_s * S_NS,
                                          .level = "I",
                                          .name = STORE_COMMAND_BEGUN,
                                          .text = text },
                   &err),
       &err);
}

/* A run that held one host at $0.72 an hour from its first to its last second;
 * 'ending' is NULL while it runs. */
static void run(struct store *store, int64_t from_s, int64_t to_s,
                const char *phase, const char *ending)
{
    struct err err = { "" };
    int64_t epoch = UTC + from_s * S_NS;

    fixture_run(store, epoch);
    if (ending)
        ok(store_run_end(store, epoch, ending, UTC + to_s * S_NS, &err), &err);
    ok(store_held_put(store,
                      &(struct store_held){ .host = "h",
                                            .epoch = epoch,
                                            .start_ns = from_s * S_NS,
                                            .end_ns = to_s * S_NS,
                                            .start_utc = epoch,
                                            .rate_usd_per_h = 0.72,
                                            .phase = phase },
                      &err),
       &err);
}

static void load(struct store *store, struct foreseen *out)
{
    struct err err = { "" };

    ok(foreseen_load(store, out, &err), &err);
}

static void all_runs_of_a_command_are_what_it_took(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct foreseen foreseen;

    begin(store, 0, FROM_SWEEP);
    run(store, 1, 31, "search", "done");
    run(store, 32, 42, "proof", "done");
    run(store, 43, 48, "confirm", "done");
    begin(store, 100, "{}"); /* another confirmation, by hand */
    run(store, 101, 201, "confirm", "done");
    load(store, &foreseen);
    assert_int_equal(foreseen.n, 1);
    assert_near(foreseen.list[0].wall_s.low, 40, 1e-9);
    assert_near(foreseen.list[0].wall_s.high, 61, 1e-9);
    assert_near(foreseen.list[0].usd.likely, 0.015, 1e-9);
    assert_string_equal(foreseen.list[0].from, "an earlier sweep");
    assert_near(foreseen.list[0].took_s, 48, 1e-9);
    assert_near(foreseen.list[0].took_usd, 45 * 0.72 / 3600, 1e-9);
    assert_true(foreseen.list[0].ended);
    assert_true(foreseen_holds(&foreseen.list[0].wall_s, 48));
    assert_false(foreseen_holds(&foreseen.list[0].wall_s, 62));
    assert_false(foreseen_holds(&foreseen.list[0].wall_s, 39));
    foreseen_fini(&foreseen);
    store_close(store);
}

static void a_run_that_was_stopped_has_not_ended(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct foreseen foreseen;

    begin(store, 0, FROM_SWEEP);
    run(store, 1, 11, "search", "interrupted");
    begin(store, 20,
          "{\"wall_s_low\": 5, \"wall_s_likely\": 6, "
          "\"wall_s_high\": 7, \"from\": \"defaults\"}");
    run(store, 21, 31, "search", NULL);
    load(store, &foreseen);
    assert_int_equal(foreseen.n, 2);
    assert_near(foreseen.list[0].took_s, 11, 1e-9);
    assert_false(foreseen.list[0].ended);
    assert_true(isnan(foreseen.list[1].usd.low));
    assert_false(foreseen.list[1].ended);
    assert_near(foreseen.list[1].took_s, 11, 1e-9); /* it held a host so long */
    foreseen_fini(&foreseen);
    store_close(store);
}

static void a_command_without_work_is_not_the_newest(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct foreseen foreseen;

    load(store, &foreseen);
    assert_null(foreseen_newest(&foreseen));
    begin(store, 0, FROM_SWEEP);
    run(store, 1, 31, "search", "done");
    begin(store, 40, FROM_SWEEP);
    run(store, 40, 40, "search", "done");
    begin(store, 50, FROM_SWEEP); /* it took a second to find that out */
    run(store, 51, 51, "search", "done");
    load(store, &foreseen);
    assert_int_equal(foreseen.n, 3);
    assert_ptr_equal(foreseen_newest(&foreseen), &foreseen.list[0]);
    foreseen_fini(&foreseen);
    store_close(store);
}

static void what_is_no_estimate_is_none(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct foreseen foreseen;

    begin(store, 0, "not JSON");
    begin(store, 1, "{}");
    load(store, &foreseen);
    assert_int_equal(foreseen.n, 0);
    foreseen_fini(&foreseen);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_runs_of_a_command_are_what_it_took,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_run_that_was_stopped_has_not_ended,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_command_without_work_is_not_the_newest, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_estimate_is_none,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
