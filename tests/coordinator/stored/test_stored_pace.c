/* What a database teaches about the pace of a sweep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/sql/sql.h"
#include "coordinator/stored/stored_pace.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/store/store_fixture.h"

static void put_build(struct store *store, const char *nonce, double seconds,
                      bool cached, const char *purpose)
{
    struct store_build row = fixture_build(nonce, "c1");
    struct err err = { "" };

    row.seconds = seconds;
    row.cached = cached;
    row.purpose = purpose;
    if (store_build_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_result(struct store *store, const char *nonce, double held_s,
                       int64_t round)
{
    struct store_result row = fixture_result(nonce, "c1");
    struct err err = { "" };

    row.held_s = held_s;
    row.id.round = round;
    if (store_result_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void run_sql(struct store *store, const char *sql)
{
    struct err err = { "" };

    if (sql_run(store_db(store), sql, &err) < 0)
        fail_msg("%s", err.text);
}

/* Two builds of 2 and 4 s on one host of 8 slots, two measurements of 0.1 and
 * 0.3 s; the first lease after 3 s, the last result 5 s later. */
static struct store *open_with_work(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);

    fixture_owners(store, "c1");
    put_build(store, "b1", 2, false, "kernel");
    put_build(store, "b2", 4, false, "kernel");
    put_build(store, "b3", 9, true, "kernel");
    put_build(store, "b4", 9, false, "reference");
    put_result(store, "r1", 0.1, 1);
    put_result(store, "r2", 0.3, 2);
    run_sql(store, "UPDATE host SET slots=8");
    run_sql(store, "INSERT INTO lease(epoch, id, config, shape, purpose, stage,"
                   " round, attempt, host, gpu, leased_utc, ended_utc, ending)"
                   " SELECT epoch, 1, 'c1', '', 'kernel', 'build', 0, 1,"
                   " (SELECT name FROM host LIMIT 1), '', epoch+3000000000,"
                   " epoch+5000000000, 'done' FROM run LIMIT 1");
    run_sql(store, "INSERT INTO lease(epoch, id, config, shape, purpose, stage,"
                   " round, attempt, host, gpu, leased_utc, ended_utc, ending)"
                   " SELECT epoch, 2, 'c1', 's', 'screen', 'measure', 0, 1,"
                   " (SELECT name FROM host LIMIT 1), 'g', epoch+5000000000,"
                   " epoch+8000000000, 'done' FROM run LIMIT 1");
    return store;
}

static void load(struct store *store, const char *spec, struct stored_pace *out)
{
    struct err err = { "" };

    if (stored_pace_load(store, spec, out, &err) < 0)
        fail_msg("%s", err.text);
}

static void means_are_of_what_a_compiler_and_a_gpu_did(void **state)
{
    struct store *store = open_with_work(*state);
    struct stored_pace pace;

    load(store, "another file", &pace);
    assert_false(pace.same_space);
    assert_true(pace.device[0] != '\0');
    assert_int_equal(pace.build.n, 2);
    assert_near(pace.build.mean_s, 3, 1e-9);
    assert_near(pace.build.square_s2, 10, 1e-9);
    assert_int_equal(pace.measure.n, 2);
    assert_near(pace.measure.mean_s, 0.2, 1e-9);
    assert_true(isnan(pace.confirm_s));
    stored_pace_fini(&pace);
    store_close(store);
}

static void a_run_has_its_work_and_its_time(void **state)
{
    struct store *store = open_with_work(*state);
    const struct stored_pace_host *host;
    struct stored_pace pace;

    load(store, "", &pace);
    assert_int_equal(pace.n_runs, 1);
    assert_int_equal(pace.runs[0].builds, 2);
    assert_int_equal(pace.runs[0].slots, 8);
    assert_near(pace.runs[0].build_s, 6, 1e-9);
    assert_int_equal(pace.runs[0].measurements, 2);
    assert_int_equal(pace.runs[0].gpus, 1);
    assert_near(pace.runs[0].measure_s, 0.4, 1e-9);
    assert_near(pace.runs[0].start_s, 3, 1e-9);
    assert_near(pace.runs[0].wall_s, 5, 1e-9);
    assert_int_equal(pace.n_hosts, 1);
    host = stored_pace_find(&pace, pace.hosts[0].name);
    assert_ptr_equal(host, &pace.hosts[0]);
    assert_int_equal(host->slots, 8);
    assert_int_equal(host->builds, 2);
    assert_near(host->build_s, 3, 1e-9);
    assert_null(stored_pace_find(&pace, "nobody"));
    stored_pace_fini(&pace);
    store_close(store);
}

static void the_same_file_is_the_same_space(void **state)
{
    struct store *store = open_with_work(*state);
    struct stored_pace pace;

    run_sql(store, "UPDATE sweep SET spec='{\"name\": \"x\"}'");
    load(store, "{\"name\": \"x\"}", &pace);
    assert_true(pace.same_space);
    stored_pace_fini(&pace);
    store_close(store);
}

static void nothing_is_known_of_a_new_database(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct stored_pace pace;

    load(store, "", &pace);
    assert_string_equal(pace.device, "");
    assert_int_equal(pace.build.n + pace.measure.n, 0);
    assert_int_equal(pace.n_runs + pace.n_hosts, 0);
    stored_pace_fini(&pace);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            means_are_of_what_a_compiler_and_a_gpu_did, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(a_run_has_its_work_and_its_time,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_same_file_is_the_same_space,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_known_of_a_new_database,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
