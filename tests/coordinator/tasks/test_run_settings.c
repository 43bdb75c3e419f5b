/* Shared flags: the commands that have them, and the ones that exclude each
 * other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run_settings.h"

#define ARGS_MAX 16

/* 'line' is split at its blanks; the settings go to 'got'. */
static struct run_settings got;
static const char *shape;

static int parse(enum run_kind kind, const char *line, struct err *err)
{
    static char copy[200];
    static const char *plain[1];
    static const struct option own[] = {
        { "shape", OPTION_TEXT, &shape, "NAME", "where", NULL },
    };
    static const struct options options = { .command = "bench",
                                            .arguments = "[SWEEP]",
                                            .what = "A test.",
                                            .list = own,
                                            .n = 1,
                                            .arguments_max = 1,
                                            .plain = plain };
    char *argv[ARGS_MAX + 2] = { (char *)(uintptr_t) "bench" }, *rest = copy;
    int argc = 1;

    got = (struct run_settings)RUN_SETTINGS;
    shape = NULL;
    err->text[0] = '\0';
    assert_true(strlen(line) < sizeof(copy));
    memcpy(copy, line, strlen(line) + 1);
    while (*line && rest && argc <= ARGS_MAX)
        argv[argc++] = strsep(&rest, " ");
    return run_settings_parse(&got, kind, &options, argc, argv, err);
}

static int check(enum run_kind kind, const char *line, struct err *err)
{
    bool runs_kernels = kind == RUN_PROFILE || kind == RUN_FUZZ;

    if (parse(kind, line, err) != 0)
        fail_msg("%s: %s", line, err->text);
    return run_settings_check(&got, runs_kernels, err);
}

static void each_command_has_its_flags_in_one_order(void **state)
{
    static const struct {
        enum run_kind kind;
        const char *flags;
    } cases[] = {
        { RUN_SWEEP,
          " hosts db device speed-up cards arch ssh listen accept-new-host-keys"
          " budget times effort strategy evaluations warm seed in-flight"
          " max-hours linger plan dry-run fresh"
          " log metrics on-event json quiet" },
        { RUN_RESUME,
          " hosts db speed-up ssh listen accept-new-host-keys budget times"
          " effort strategy evaluations seed in-flight max-hours linger plan"
          " log metrics "
          "on-event"
          " json quiet" },
        { RUN_CONFIRM, " hosts db ssh listen accept-new-host-keys budget "
                       "effort max-hours linger"
                       " plan log metrics on-event json quiet" },
        { RUN_BENCH,
          " hosts db ssh listen accept-new-host-keys max-hours linger log"
          " metrics json quiet" },
        { RUN_PROFILE,
          " hosts db ssh listen accept-new-host-keys max-hours linger log"
          " json quiet" },
        { RUN_EXPLAIN,
          " hosts db ssh listen accept-new-host-keys max-hours linger log"
          " json quiet" },
        { RUN_FUZZ,
          " hosts db device arch ssh listen accept-new-host-keys max-hours"
          " linger log json quiet" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct option list[RUN_FLAGS_MAX];
        size_t n = run_settings_flags(&got, cases[i].kind, list);
        char names[400] = "";

        for (size_t k = 0; k < n; k++) {
            size_t len = strlen(names);

            snprintf(names + len, sizeof(names) - len, " %s", list[k].name);
        }
        assert_string_equal(names, cases[i].flags);
    }
}

static void missing_flags_keep_their_default(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_SWEEP, "", &err), 0);
    assert_null(got.hosts);
    assert_null(got.device);
    assert_string_equal(got.reach.ssh, "auto");
    assert_int_equal(got.linger_s, 90);
    assert_int_equal(got.search.seed, -1);
    assert_int_equal(got.search.evaluations, -1);
}

/* 0 in the settings is no cap. */
static void a_cap_of_nothing_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_SWEEP, "--budget 0", &err), ERR_INPUT);
    assert_string_equal(err.text, "--budget=0: a cap is at least 1e-06 "
                                  "dollars; leave it out for no cap");
    assert_int_equal(parse(RUN_BENCH, "--max-hours 0", &err), ERR_INPUT);
    assert_string_equal(err.text, "--max-hours=0: a cap is at least 1e-06 "
                                  "hours; leave it out for no cap");
    assert_int_equal(parse(RUN_SWEEP, "--budget 9e-7", &err), ERR_INPUT);
    assert_int_equal(parse(RUN_SWEEP, "--budget 1e-6", &err), 0);
    assert_true(got.budget_usd == 1e-6);
    assert_true(got.max_hours == 0);
}

static void a_default_cap_of_nothing_is_refused(void **state)
{
    static const struct option_default zero[] = {
        { NULL, "budget", "0", "FA_COORD_BUDGET" },
    };
    struct err err;
    int rc;

    (void)state;
    options_set_defaults(zero, 1);
    rc = parse(RUN_SWEEP, "", &err);
    options_set_defaults(NULL, 0);
    assert_int_equal(rc, ERR_INPUT);
    assert_non_null(strstr(err.text, "budget=0"));
}

static void own_and_shared_flags_are_read_together(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_BENCH,
                           "--shape n1 --json --linger 600 --db x.db "
                           "--max-hours 0.5",
                           &err),
                     0);
    assert_string_equal(shape, "n1");
    assert_true(got.json);
    assert_int_equal(got.linger_s, 600);
    assert_string_equal(got.db, "x.db");
    assert_true(got.max_hours == 0.5);
}

static void a_flag_of_another_command_is_unknown(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_BENCH, "--budget 5", &err), ERR_INPUT);
    assert_string_equal(
        err.text,
        "bench: unknown flag '--budget'; see 'fa-coord bench --help'");
    assert_int_equal(parse(RUN_CONFIRM, "--device cpu", &err), ERR_INPUT);
    assert_int_equal(parse(RUN_FUZZ, "--cards x", &err), ERR_INPUT);
}

static void a_plan_of_a_fresh_sweep_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_SWEEP, "--dry-run --fresh", &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "bench: --fresh and --dry-run cannot be combined");
}

static void contradicting_flags_are_refused(void **state)
{
    static const struct {
        enum run_kind kind;
        const char *line, *text;
    } cases[] = {
        { RUN_SWEEP, "--speed-up 2",
          "--speed-up works only with --device replay=FILE" },
        { RUN_SWEEP, "--device cuda --cards c.json",
          "--cards works only with --device replay=FILE" },
        { RUN_SWEEP, "--device replay",
          "--device=replay: the record is missing: write --device replay=FILE "
          "with a Kernel Tuner cache or the database of a sweep" },
        { RUN_SWEEP, "--device replay=",
          "--device=replay: the record is missing: write --device replay=FILE "
          "with a Kernel Tuner cache or the database of a sweep" },
        { RUN_SWEEP, "--device replay=x --speed-up 0",
          "--speed-up=0: choose a number above 0; 1 is the recorded speed" },
        { RUN_SWEEP, "--device replay=x --speed-up 2e9",
          "--speed-up=2e+09: at most 1e+09" },
        { RUN_FUZZ, "--device replay=x",
          "--device=replay: a record has times and failures but no kernels to "
          "run" },
        { RUN_SWEEP, "--device gpu",
          "--device=gpu: choose cuda, cpu or replay=FILE" },
        { RUN_SWEEP, "--device cdua",
          "--device=cdua: choose cuda, cpu or replay=FILE; did you mean "
          "'cuda'?" },
        { RUN_RESUME, "--ssh rsh",
          "--ssh=rsh: choose auto, libssh2 or openssh" },
        { RUN_RESUME, "--linger 86401", "--linger: at most 86400 seconds" },
        { RUN_RESUME, "--evaluations 0", "--evaluations: at least 1" },
        { RUN_CONFIRM, "--effort fast",
          "--effort=fast: choose quick, normal or full" },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(check(cases[i].kind, cases[i].line, &err), ERR_INPUT);
        assert_string_equal(err.text, cases[i].text);
    }
}

static void a_record_is_cut_from_its_device(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(check(RUN_SWEEP, "--device replay=a=b.json", &err), 0);
    assert_string_equal(got.device, "replay");
    assert_string_equal(got.record, "a=b.json");
    assert_true(got.speed_up == 1);
}

/* For a command that resumes, device and record come from the database. */
static void a_recalled_record_needs_no_flag(void **state)
{
    struct run_settings set = RUN_SETTINGS;
    struct err err;

    (void)state;
    set.device = "replay";
    set.record = "bowl.json";
    set.speed_up = 40;
    assert_int_equal(run_settings_check(&set, false, &err), 0);
    assert_string_equal(set.record, "bowl.json");
    assert_true(set.speed_up == 40);
}

static void the_list_of_strategies_is_a_help(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse(RUN_RESUME, "--strategy help", &err), OPTIONS_HELP);
    assert_int_equal(parse(RUN_RESUME, "--strategy tpe", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_has_its_flags_in_one_order),
        cmocka_unit_test(missing_flags_keep_their_default),
        cmocka_unit_test(a_cap_of_nothing_is_refused),
        cmocka_unit_test(a_default_cap_of_nothing_is_refused),
        cmocka_unit_test(own_and_shared_flags_are_read_together),
        cmocka_unit_test(a_flag_of_another_command_is_unknown),
        cmocka_unit_test(a_plan_of_a_fresh_sweep_is_refused),
        cmocka_unit_test(contradicting_flags_are_refused),
        cmocka_unit_test(a_record_is_cut_from_its_device),
        cmocka_unit_test(a_recalled_record_needs_no_flag),
        cmocka_unit_test(the_list_of_strategies_is_a_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
