/* A sweep whose configurations are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/reactor/prepare.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
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

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_build_took_as_long_as_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
