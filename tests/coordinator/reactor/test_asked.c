/* A run of selected configurations, of which gates reject some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/plan/config_selection.h"
#include "coordinator/spec/spec.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define FROM FA_SOURCE_DIR "/kernels/vector_add"

static const char *const files[] = { "sweep.json", "vector_add.cu",
                                     "reference.cu" };
static struct rig rig;
static struct config_selection choice;
static struct plan_ask ask;
static struct spec_shape shapes[2];

/* vector_add, with a first gate that depends on the shape. */
static void copy_kernel(void)
{
    char command[512];

    for (size_t i = 0; i < 3; i++) {
        snprintf(command, sizeof(command),
                 "sed 's/VECTOR AND ITEMS %% 4 <> 0/N = 100 AND BLOCK_SIZE = "
                 "64/' %s/%s >%s/%s",
                 FROM, files[i], rig.folder, files[i]);
        assert_int_equal(system(command), 0);
    }
}

/* Unit 0, of blocks of 64, at the shapes n100 and n5k. */
static int set_up(void **state)
{
    struct err err = { "" };
    static char name[] = "n100";
    static int64_t n = 100;
    char path[64];

    (void)state;
    rig_open_bare(&rig, 1);
    copy_kernel();
    spec_free(rig.sweep.work.spec);
    snprintf(path, sizeof(path), "%s/sweep.json", rig.folder);
    if (spec_load(path, &rig.sweep.work.spec, &err) < 0)
        fail_msg("%s", err.text);
    choice = (struct config_selection){ 0 };
    if (config_selection_named(&choice, rig.sweep.work.spec, "BLOCK_SIZE=64",
                               &err) < 0)
        fail_msg("%s", err.text);
    shapes[1] = rig.sweep.work.spec->shapes.emulation[0];
    shapes[0] = (struct spec_shape){ .name = name, .vars = &n };
    ask = (struct plan_ask){ &choice, shapes, 2 };
    rig.options.ask = &ask;
    rig_begin(&rig);
    rig_ready(&rig, 0, 1, 1);
    return 0;
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    config_selection_fini(&choice);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", rig.folder, files[i]);
        (void)unlink(path); /* where the set-up came so far */
    }
    rig_close(&rig);
    return 0;
}

static void what_a_gate_rejects_at_a_shape_is_not_run_there(void **state)
{
    const struct sched *sched = rig.sweep.work.sched;

    (void)state;
    assert_int_equal(plan_gate(rig.sweep.work.plan, 0, 0), 0);
    assert_int_equal(plan_gate(rig.sweep.work.plan, 0, 1), -1);
    assert_int_equal(
        rig_rows(&rig, "outcome WHERE outcome = 'constraints' AND shape = "
                       "'n100' AND reason LIKE 'gate ''vector_items'': %'"),
        1);
    assert_int_equal(rig.sweep.work.count.settled, 1);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 1)->state, JOB_BLOCKED);
}

static void a_build_that_fails_settles_what_no_gate_has(void **state)
{
    (void)state;
    assert_int_equal(rig_dispatch(&rig), 2);
    assert_int_equal(rig_built(&rig, rig_last(&rig, MSG_BUILD), "compile"), 0);
    assert_int_equal(rig.sweep.work.count.settled, 2);
    assert_int_equal(
        rig_rows(&rig, "outcome WHERE outcome = 'compile' AND shape = 'n5k'"),
        1);
    assert_int_equal(
        rig_rows(&rig,
                 "outcome WHERE outcome = 'constraints' AND shape = 'n100'"),
        1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_a_gate_rejects_at_a_shape_is_not_run_there),
        CASE(a_build_that_fails_settles_what_no_gate_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
