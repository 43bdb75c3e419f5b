/* test_landscape_db.c - what failed has a time and a device, too */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/inspect/landscape_db.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_rows.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)

static struct landscape *load(const char *path)
{
    struct landscape *landscape;
    struct err err = { "" };

    if (landscape_of_database(path, &landscape, &err) < 0)
        fail_msg("%s", err.text);
    return landscape;
}

/* It never ran: no GPU has a result of it. */
static void what_does_not_compile_has_the_time_of_its_build(void **state)
{
    struct store *store = report_fixture(*state);
    struct store_build build = fixture_build("b4", REPORT_PENDING);
    struct store_outcome outcome = { REPORT_PENDING, "n16m",      "5c",
                                     "3e",           "compile",   "no",
                                     "b4",           (double)NAN, 1,
                                     UTC + 8 };
    struct landscape *landscape;
    struct err err = { "" };
    int late = 0;

    build.epoch = REPORT_FIXTURE_EPOCH;
    build.outcome = "compile";
    build.received_utc = UTC + 7;
    if (store_build_put(store, &build, &err) < 0 ||
        store_outcome_put(store, &outcome, &err) < 0 ||
        store_commit(store, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
    landscape = load(*state);
    for (int i = 0; i < domain_size(landscape->domain); i++) {
        assert_true(landscape->configs[i].recorded_utc > 0);
        late += landscape->configs[i].recorded_utc == UTC + 7;
    }
    assert_int_equal(late, 1);
    landscape_free(landscape);
}

static void device_of_failures_is_the_one_that_ran_them(void **state)
{
    struct landscape *landscape;

    store_close(report_fixture_negative(*state));
    landscape = load(*state);
    assert_int_equal(landscape->best, -1);
    assert_string_equal(landscape->device, "NVIDIA L4");
    landscape_free(landscape);
}

/* As the sweep file has it: other tuners find a configuration by its text. */
static void a_real_that_is_whole_stays_a_real(void **state)
{
    struct store *store = report_fixture(*state);
    struct landscape *landscape;
    struct err err = { "" };

    if (store_config_put(store,
                         &(struct store_config){
                             "77777777777777777777777777777777", 1, 7, false,
                             "{\"BLOCK_SIZE\":2.0,\"VECTOR\":false}", "[]",
                             "5c" },
                         &err) < 0 ||
        store_commit(store, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
    landscape = load(*state);
    assert_string_equal(landscape->tunables[0].texts[0], "2.0");
    assert_string_equal(landscape->tunables[0].texts[1], "64");
    landscape_free(landscape);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_does_not_compile_has_the_time_of_its_build),
        TEST(device_of_failures_is_the_one_that_ran_them),
        TEST(a_real_that_is_whole_stays_a_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
