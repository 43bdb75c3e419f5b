/* Which configurations are chosen, from named ones, covers and all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/result/report.h"
#include "coordinator/result/screening.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "tests/coordinator/spec/spec_fixture.h"

/* A and B in {1, 2}, C in {1, 2, 3}; A=2 C=3 is rejected, N > 100 with B=2. */
static const struct spec_parts parts = {
    .tunables = "\"A\": [1, 2], \"B\": [1, 2], \"C\": [1, 2, 3]",
    .gates =
        "{ \"name\": \"g\", \"reject\": \"A = 2 AND C = 3\", \"why\": \"w\" },"
        "{ \"name\": \"n\", \"reject\": \"B = 2 AND N > 100\", "
        "\"why\": \"w\" },"
        "{ \"name\": \"warns\", \"warn\": \"C = 2\", \"why\": \"w\" }",
    .baseline = "\"A\": 1, \"B\": 1, \"C\": 2",
    .more = ", \"fuzz_shapes\": [ { \"name\": \"f\", \"N\": [5, 500] } ]",
};

static struct spec *spec;
static struct space *space;
static struct config_selection selection;
static struct chosen *chosen;
static size_t n;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    spec = spec_fixture(&parts);
    return space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err);
}

static int tear_down(void **state)
{
    (void)state;
    free(chosen);
    chosen = NULL;
    config_selection_fini(&selection);
    space_close(space);
    spec_free(spec);
    return 0;
}

static void resolve(void)
{
    if (config_selection_resolve(&selection, spec, space, &chosen, &n, &err) <
        0)
        fail_msg("%s", err.text);
}

static void name(const char *text)
{
    if (config_selection_named(&selection, spec, text, &err) < 0)
        fail_msg("%s", err.text);
}

static void tunables_not_named_have_the_baselines_values(void **state)
{
    (void)state;
    name("C=3");
    name("A=2,B=2");
    resolve();
    assert_int_equal(n, 2);
    assert_int_equal(chosen[0].point, 2);
    assert_int_equal(chosen[0].warned, 0);
    assert_int_equal(chosen[1].point, 10);
    assert_int_equal(chosen[1].warned, 4);
}

static void each_configuration_occurs_once(void **state)
{
    (void)state;
    config_selection_baseline(&selection, spec);
    name("C=2");
    name("A=7"); /* outside the axes */
    name("A=7");
    selection.all = true;
    resolve();
    assert_int_equal(n, 11); /* 10 pass, one is outside */
    assert_int_equal(chosen[0].point, 1);
    assert_int_equal(chosen[1].point, -1);
    assert_int_equal(chosen[1].values[0].integer, 7);
    assert_int_equal(chosen[2].point, 0);
    assert_int_equal(chosen[3].point, 2);
}

static void a_cover_has_points_that_pass(void **state)
{
    (void)state;
    selection.cover = true;
    resolve();
    assert_in_range(n, 5, 6);
    for (size_t i = 0; i < n; i++)
        assert_true(chosen[i].point != 8 && chosen[i].point != 11);
}

static void an_unknown_tunable_is_named(void **state)
{
    (void)state;
    assert_int_equal(config_selection_named(&selection, spec, "D=1", &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "there is no tunable 'D'"));
    assert_int_equal(selection.n, 0);
}

static void the_best_of_a_report_come_in_its_order(void **state)
{
    struct stored_param names[2][3] = {
        { { "A", STORED_PARAM_INTEGER, 2, (char[]){ "2" } },
          { "B", STORED_PARAM_INTEGER, 1, (char[]){ "1" } },
          { "C", STORED_PARAM_INTEGER, 1, (char[]){ "1" } } },
        { { "A", STORED_PARAM_INTEGER, 1, (char[]){ "1" } },
          { "B", STORED_PARAM_INTEGER, 2, (char[]){ "2" } },
          { "C", STORED_PARAM_INTEGER, 1, (char[]){ "1" } } },
    };
    struct report_config configs[] = {
        { .rank = 1, .params = { names[0], 3 } },
        { .rank = 2, .params = { names[1], 2 } }, /* of other tunables */
        { .rank = 3, .params = { names[1], 3 } },
        { .rank = 0, .params = { names[0], 3 } },
    };
    const struct report report = { .configs = configs, .n_configs = 4 };

    (void)state;
    assert_int_equal(screening_best(&selection, spec, &report, 9), 2);
    resolve();
    assert_int_equal(n, 2);
    assert_int_equal(chosen[0].point, 6);
    assert_int_equal(chosen[1].point, 3);
}

static void a_plan_of_what_was_asked_for_knows_what_gates_reject(void **state)
{
    static char folder[] = FA_SOURCE_DIR "/kernels/vector_add";
    struct plan_ask ask = { .choice = &selection };
    struct plan *plan;

    (void)state;
    free(spec->file.folder);
    spec->file.folder = strdup(folder);
    free(spec->kernel.source);
    spec->kernel.source = strdup("vector_add.cu");
    free(spec->reference.source);
    spec->reference.source = strdup("reference.cu");
    name("B=2");
    name("A=2,C=3");
    ask.shapes = spec_fuzz_shapes(spec, "cuda", &ask.n_shapes);
    if (plan_make(spec, space, &ask, "cuda", "sm_89", &plan, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(plan_units(plan), 2);
    assert_int_equal(plan_shapes(plan), 2);
    assert_false(plan_unit(plan, 0)->baseline);
    assert_int_equal(plan_gate(plan, 0, 0), -1);
    assert_int_equal(plan_gate(plan, 0, 1), 1);
    assert_int_equal(plan_gate(plan, 1, 0), 0);
    assert_int_equal(plan_gate(plan, 1, 1), 0);
    assert_string_equal(plan_shape_name(plan, 1), "f-500");
    plan_free(plan);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(tunables_not_named_have_the_baselines_values),
        CASE(each_configuration_occurs_once),
        CASE(a_cover_has_points_that_pass),
        CASE(an_unknown_tunable_is_named),
        CASE(the_best_of_a_report_come_in_its_order),
        CASE(a_plan_of_what_was_asked_for_knows_what_gates_reject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
