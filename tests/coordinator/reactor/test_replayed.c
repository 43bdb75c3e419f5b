/* A sweep whose configurations are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/reactor/inbox.h"
#include "coordinator/reactor/prepare.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct replay *replay;

/* Built in 0.9 s and 0.7 s, checked in 10 ms. */
static const char record[] =
    "{\"device_name\": \"GPU\", \"tune_params\": {\"BLOCK\": [1, 2]},"
    " \"cache\": {"
    "\"1\": {\"BLOCK\": 1, \"time\": 2.5, \"times\": [2.0, 3.0],"
    " \"compile_time\": 900, \"verification_time\": 10,"
    " \"benchmark_time\": 5},"
    "\"2\": {\"BLOCK\": 2, \"time\": 4.0, \"compile_time\": 700,"
    " \"verification_time\": 10, \"benchmark_time\": 4}}}";

static void load(struct spec **spec)
{
    struct replay_options options = { .speed_up = 50 };
    struct landscape *land;
    struct err err;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/record.json", rig.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(record, file);
    assert_int_equal(fclose(file), 0);
    options.file = path;
    if (landscape_load(path, &land, &err) < 0 ||
        replay_open(&options, &land, &replay, &err) < 0 ||
        replay_spec(replay, NULL, spec, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(unlink(path), 0);
}

/* Host a has two slots and a GPU. */
static int set_up(void **state)
{
    struct err err;

    (void)state;
    rig_open_bare(&rig, 1);
    spec_free(rig.sweep.work.spec);
    load(&rig.sweep.work.spec);
    rig.options.device = "replay";
    rig_begin(&rig);
    rig.sweep.work.facts = *gpu_arch_find("sm_89");
    if (prepare_plan(&rig.sweep, &err) < 0)
        fail_msg("%s", err.text);
    rig_ready(&rig, 0, 3, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    replay_close(replay);
    return 0;
}

static int64_t microseconds(const char *table, const char *config,
                            const char *purpose)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "SELECT CAST(round(1e6 * max(seconds)) AS INTEGER) FROM %s WHERE "
             "config = '%s' AND "
             "purpose = '%s'",
             table, config, purpose);
    return rig_number(&rig, sql);
}

/* That of the reference is not recorded, so it took as long as it took. */
static void a_build_took_as_long_as_is_recorded(void **state)
{
    struct rig_sent builds[3];
    struct rig_result result;

    (void)state;
    assert_int_equal(rig_dispatch(&rig), 3);
    memcpy(builds, &rig.sent[rig.n_sent - 3], sizeof(builds));
    for (size_t i = 0; i < 3; i++) {
        rig_result_of(&builds[i], "built", 0, &result);
        result.msg.built.result.seconds = 0.25;
        assert_int_equal(rig_take(&rig, 0, result.msg), 0);
    }
    assert_string_equal(builds[0].purpose, "reference");
    assert_int_equal(microseconds("build", builds[0].config, "reference"),
                     250000);
    assert_int_equal(microseconds("build", builds[1].config, "kernel"), 900000);
    assert_int_equal(microseconds("build", builds[2].config, "kernel"), 700000);
}

/* Unit 0 is built and is to be measured. */
static void measure_first(void)
{
    struct rig_sent builds[3];

    assert_int_equal(rig_dispatch(&rig), 3);
    memcpy(builds, &rig.sent[rig.n_sent - 3], sizeof(builds));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rig_built(&rig, &builds[i], "built"), 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    assert_string_equal(rig_last(&rig, MSG_MEASURE)->config,
                        plan_unit(rig.sweep.work.plan, 0)->key);
    assert_true(rig_last(&rig, MSG_MEASURE)->is_recorded);
}

/* In a measurement of two samples and three warm-ups. */
static void a_measurement_held_its_gpu_as_long_as_is_recorded(void **state)
{
    struct rig_result result;
    double samples[] = { 2e-3, 3e-3 };

    (void)state;
    measure_first();
    rig_result_of(rig_last(&rig, MSG_MEASURE), "correct", 0, &result);
    result.msg.measured.samples.items = samples;
    result.msg.measured.samples.n = 2;
    assert_int_equal(rig_take(&rig, 0, result.msg), 0);
    assert_int_equal(
        microseconds("result", rig_last(&rig, MSG_MEASURE)->config, "screen"),
        10000 + 5000 + rig.sweep.work.spec->measure.warmups * 2500);
}

/* Unit 0 was measured by an earlier run. */
static struct msg from_before(struct rig_result *result, const char *config)
{
    struct store_lease lease = { .epoch = 900,
                                 .id = 4,
                                 .config = config,
                                 .shape = rig_last(&rig, MSG_MEASURE)->shape,
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .attempt = 1,
                                 .host = "a",
                                 .gpu = "GPU-0-0",
                                 .leased_utc = 5 };
    struct err err = { "" };

    rig_result_of(rig_last(&rig, MSG_MEASURE), "correct", 2e-3, result);
    rig_run(&rig, 900);
    if (store_lease_put(rig.sweep.mail.store, &lease, &err) < 0)
        fail_msg("%s", err.text);
    result->msg.epoch = 900;
    result->msg.measured.work.lease = 4;
    result->msg.measured.work.id.config = config;
    return result->msg;
}

static void a_result_of_an_earlier_run_is_restated_too(void **state)
{
    struct rig_result result;
    struct err err = { "" };
    struct msg msg;

    (void)state;
    measure_first();
    msg = from_before(&result, plan_unit(rig.sweep.work.plan, 0)->key);
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_string_equal(err.text, "");
    assert_int_equal(rig_rows(&rig, "result"), 1);
    assert_false(rig.sweep.fleet.hosts[0].conduct.has_foreign);
}

/* Its durations are in the record of a point that is not asked for. */
static void a_result_of_another_point_is_left_in_its_journal(void **state)
{
    struct rig_result result;
    struct err err = { "" };
    struct msg msg;

    (void)state;
    measure_first();
    msg = from_before(&result, "0123456789abcdef0123456789abcdef");
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result"), 0);
    assert_true(rig.sweep.fleet.hosts[0].conduct.has_foreign);
}

/* A worker that has the emulated GPU is that of the record. */
static void its_gpu_is_called_as_the_recorded_one(void **state)
{
    struct msg gpu = rig_gpu("GPU-7");

    (void)state;
    rig.sweep.fleet.hosts[0].state = HOST_STATE_GREETED;
    rig.sweep.fleet.hosts[0].n_gpus = 0;
    assert_int_equal(rig_take(&rig, 0, gpu), 0);
    assert_string_equal(rig.sweep.fleet.hosts[0].gpus[0].name,
                        "GPU (recorded)");
    assert_int_equal(rig_rows(&rig, "gpu WHERE name = 'GPU (recorded)'"), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_build_took_as_long_as_is_recorded),
        CASE(a_measurement_held_its_gpu_as_long_as_is_recorded),
        CASE(a_result_of_an_earlier_run_is_restated_too),
        CASE(a_result_of_another_point_is_left_in_its_journal),
        CASE(its_gpu_is_called_as_the_recorded_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
