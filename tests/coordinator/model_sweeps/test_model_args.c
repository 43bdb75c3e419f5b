/* The command line, the budget and the exit code of the sweeps of models. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/model_sweeps/model_args.h"

static bool has(const struct model_args *args, const char *item)
{
    for (size_t i = 0; i < args->n; i++)
        if (strcmp(args->items[i], item) == 0)
            return true;
    return false;
}

static void a_child_has_its_hosts_and_database(void **state)
{
    struct run_settings set = RUN_SETTINGS;
    const struct model_own own = { "l4", "hosts.txt#l4", "x.l4.db" };
    struct model_args args = { .n = 0 };

    (void)state;
    set.hosts = "hosts.txt";
    set.db = "x.db";
    set.budget_usd = 10;
    model_args_flags(&args, &set, RUN_SWEEP, &own);
    assert_true(has(&args, "--hosts=hosts.txt#l4"));
    assert_true(has(&args, "--db=x.l4.db"));
    assert_false(has(&args, "--hosts=hosts.txt"));
    assert_false(has(&args, "--budget=10")); /* it gets a share at its start */
    assert_null(args.items[args.n]);
    model_args_fini(&args);
}

static void a_child_has_all_other_flags(void **state)
{
    struct run_settings set = RUN_SETTINGS;
    const struct model_own own = { .label = "l4" };
    struct model_args args = { .n = 0 };

    (void)state;
    set.device = "replay={model}.json";
    set.told.log = "log/all.txt";
    set.told.metrics = "{model}/prom";
    set.json = set.fresh = true;
    set.rented.arch = "sm_89";
    set.max_hours = 0.1;
    set.search.seed = 0;
    model_args_flags(&args, &set, RUN_SWEEP, &own);
    assert_true(has(&args, "--device=replay=l4.json"));
    assert_true(has(&args, "--log=log/all.l4.txt"));
    assert_true(has(&args, "--metrics=l4/prom"));
    assert_true(has(&args, "--json"));
    assert_true(has(&args, "--fresh"));
    assert_true(has(&args, "--seed=0"));
    assert_true(has(&args, "--max-hours=0.10000000000000001"));
    assert_true(has(&args, "--arch=sm_89"));
    assert_false(has(&args, "--quiet"));
    assert_false(has(&args, "--evaluations=-1"));
    model_args_fini(&args);
}

static void files_get_the_label_before_their_ending(void **state)
{
    static const struct {
        const char *path, *want;
    } rows[] = { { "x.db", "x.l4.db" },
                 { "a.b/x.db", "a.b/x.l4.db" },
                 { "a.b/x", "a.b/x.l4" },
                 { "x", "x.l4" },
                 { ".x", ".x.l4" },
                 { "a/.x", "a/.x.l4" },
                 { "{model}.db", "l4.db" },
                 { "{model}/{model}", "l4/l4" },
                 { "x.{mode}", "x.l4.{mode}" } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *got = model_args_file(rows[i].path, "l4");

        assert_string_equal(got, rows[i].want);
        free(got);
    }
}

static void the_exit_code_is_that_of_all(void **state)
{
    (void)state;
    assert_int_equal(model_args_code((const int[]){ 0, 0 }, 2), 0);
    assert_int_equal(model_args_code((const int[]){ 6, 6 }, 2), 6);
    assert_int_equal(model_args_code((const int[]){ 0, 3 }, 2), 5);
    assert_int_equal(model_args_code((const int[]){ 1, 0, 0 }, 3), 5);
    assert_int_equal(model_args_code((const int[]){ 0, 130 }, 2), 130);
    assert_int_equal(model_args_code((const int[]){ 143, 143 }, 2), 143);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_its_hosts_and_database),
        cmocka_unit_test(a_child_has_all_other_flags),
        cmocka_unit_test(files_get_the_label_before_their_ending),
        cmocka_unit_test(the_exit_code_is_that_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
