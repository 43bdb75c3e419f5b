#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_work.h"
#include "tests/coordinator/store/store_fixture.h"

/* Builds of c1 and c2: what was made, of what, and how it ended. */
static const struct {
    const char *nonce, *config, *purpose, *source_key, *outcome, *artifact;
    bool evidence;
} builds[] = {
    { "b1", "c1", "kernel", "5c", "built", "a1", false },
    { "b2", "c1", "kernel", "5c", "built", "a2", false }, /* built again */
    { "b3", "c1", "kernel", "5d", "built", "a3", false },
    { "b4", "c1", "kernel", "", "built", "a4", true }, /* late, older */
    { "b5", "c1", "kernel", "5c", "crash", "a5", true },
    { "b6", "c2", "kernel", "5c", "built", "a6", false },
    { "b7", "c1", "reference", "5c", "built", "a7", false },
};

static struct store *open_with_builds(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err = { "" };

    fixture_owners(store, "c1");
    for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
        struct store_build row =
            fixture_build(builds[i].nonce, builds[i].config);

        row.purpose = builds[i].purpose;
        row.source_key = builds[i].source_key;
        row.outcome = builds[i].outcome;
        row.artifact = builds[i].artifact;
        row.evidence = builds[i].evidence;
        if (store_build_put(store, &row, &err) < 0)
            fail_msg("%s", err.text);
    }
    return store;
}

static void an_artifact_belongs_to_what_it_was_built_for(void **state)
{
    static const struct {
        const char *config, *source_key, *artifact;
        int built;
    } rows[] = {
        { "c1", "5c", "a1", 1 },
        { "c1", "5c", "a2", 1 },
        { "c1", "", "a1", 1 },
        { "c1", "5d", "a1", 0 }, /* of other sources */
        { "c1", "5c", "a3", 0 },
        { "c1", "", "a3", 1 },
        { "c1", "5c", "a4", 0 }, /* of sources that nobody knows */
        { "c1", "", "a4", 1 },
        { "c1", "", "a5", 0 }, /* no build came of it */
        { "c1", "", "a6", 0 }, /* of another configuration */
        { "c2", "5c", "a6", 1 },
        { "c1", "", "a7", 0 }, /* of the reference */
        { "c1", "", "00", 0 }, /* nobody made it */
        { "c1", "", "", 0 },
        { "c3", "", "a1", 0 },
    };
    struct store *store = open_with_builds(*state);
    struct err err = { "" };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct store_build build = { .config = rows[i].config,
                                     .source_key = rows[i].source_key,
                                     .artifact = rows[i].artifact };

        if (stored_work_was_built(store, &build, &err) != rows[i].built)
            fail_msg("row %zu: %s", i, err.text);
    }
    store_close(store);
}

static void a_row_that_was_changed_is_no_answer(void **state)
{
    static const struct store_build build = { .config = "c1",
                                              .source_key = "5c",
                                              .artifact = "a3" };
    struct store *store = open_with_builds(*state);
    struct err err = { "" };

    assert_int_equal(sql_run(store_db(store),
                             "UPDATE build SET source_key = '5c'"
                             " WHERE nonce = 'b3'",
                             &err),
                     0);
    assert_int_equal(stored_work_was_built(store, &build, &err), ERR_STORE);
    assert_non_null(
        strstr(err.text, "the row 'build b3' is not as it was written"));
    store_close(store);
}

#define CASE(test) \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

static void the_pace_is_that_of_builds_that_compiled(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_build slow = fixture_build("n1", FIXTURE_KEY);
    struct store_build cached = fixture_build("n2", FIXTURE_KEY);
    struct err err = { "" };
    double build_s, measurement_s;

    fixture_owners(store, FIXTURE_KEY);
    assert_int_equal(stored_work_pace(store, &build_s, &measurement_s, &err),
                     0);
    assert_true(isnan(build_s) && isnan(measurement_s));
    slow.purpose = cached.purpose = "kernel";
    slow.outcome = cached.outcome = "built";
    slow.seconds = 2.5;
    slow.cached = false;
    cached.seconds = 0.01;
    cached.cached = true;
    assert_true(store_build_put(store, &slow, &err) >= 0);
    assert_true(store_build_put(store, &cached, &err) >= 0);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(stored_work_pace(store, &build_s, &measurement_s, &err),
                     0);
    assert_true(build_s == 2.5);
    store_close(store);
}

/* Of each column, one that differs is another lease. */
static void work_was_leased_if_all_of_it_agrees(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    const struct store_lease was = { .epoch = FIXTURE_EPOCH,
                                     .id = 1,
                                     .config = FIXTURE_KEY,
                                     .shape = "n1",
                                     .purpose = "screen",
                                     .stage = "measure",
                                     .round = 2,
                                     .host = "gpu1",
                                     .gpu = "GPU-1" };
    struct store_lease other = was;
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    assert_int_equal(stored_work_was_leased(store, &was, &err), 0);
    assert_int_equal(store_lease_put(store, &was, &err), 0);
    assert_int_equal(stored_work_was_leased(store, &was, &err), 1);
    other.round = 3;
    assert_int_equal(stored_work_was_leased(store, &other, &err), 0);
    other = was;
    other.gpu = "GPU-2";
    assert_int_equal(stored_work_was_leased(store, &other, &err), 0);
    store_close(store);
}

static void an_outcome_is_correct_for_its_sources_alone(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_outcome row = { .config = FIXTURE_KEY,
                                 .shape = "n1",
                                 .source_key = "5c",
                                 .measure_key = "3e",
                                 .outcome = "crash",
                                 .reason = "" };
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    assert_true(store_outcome_put(store, &row, &err) >= 0);
    assert_int_equal(stored_work_is_correct(store, &row, &err), 0);
    row.outcome = "correct";
    assert_true(store_outcome_put(store, &row, &err) >= 0);
    assert_int_equal(stored_work_is_correct(store, &row, &err), 1);
    row.source_key = "5d";
    assert_int_equal(stored_work_is_correct(store, &row, &err), 0);
    store_close(store);
}

static void add_held(void *arg, const struct store_held *held)
{
    int64_t *ends = arg;

    ends[held->start_ns] = held->end_ns;
}

static void all_the_time_that_was_held_is_told(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_held held = { .host = "gpu1",
                               .epoch = FIXTURE_EPOCH,
                               .end_ns = 5,
                               .rate_usd_per_h = 0.68,
                               .phase = "search" };
    int64_t ends[8] = { 0 };
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    assert_int_equal(stored_work_held(store, add_held, ends, &err), 0);
    assert_int_equal(store_held_put(store, &held, &err), 0);
    held.start_ns = 6;
    held.end_ns = 7;
    assert_int_equal(store_held_put(store, &held, &err), 0);
    assert_int_equal(stored_work_held(store, add_held, ends, &err), 0);
    assert_int_equal(ends[0], 5);
    assert_int_equal(ends[6], 7);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_artifact_belongs_to_what_it_was_built_for),
        CASE(the_pace_is_that_of_builds_that_compiled),
        CASE(a_row_that_was_changed_is_no_answer),
        CASE(work_was_leased_if_all_of_it_agrees),
        CASE(an_outcome_is_correct_for_its_sources_alone),
        CASE(all_the_time_that_was_held_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
