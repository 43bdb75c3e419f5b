/* Defaults of flags: what a file and the environment may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/options/options.h"
#include "coordinator/usage/commands.h"
#include "coordinator/usage/user_config.h"

static struct {
    const char *hosts;
    bool quiet, force, json;
    double budget;
    int64_t seed;
} got;

static int cmd_go(int argc, char *argv[])
{
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &got.hosts, "FILE", "where", NULL },
        { "budget", OPTION_REAL, &got.budget, "USD", "how much", NULL },
        { "quiet", OPTION_FLAG, &got.quiet, NULL, "no words", "json" },
        { "json", OPTION_FLAG, &got.json, NULL, "for programs", NULL },
        { "force", OPTION_FLAG, &got.force, NULL, "overwrite", NULL },
    };
    const struct options options = {
        .command = "go",
        .arguments = "",
        .what = "Go.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };
    struct err err;

    return options_parse(&options, argc, argv, &err);
}

static int cmd_stay(int argc, char *argv[])
{
    const struct option list[] = {
        { "seed", OPTION_INT, &got.seed, "N", "luck", NULL },
    };
    const struct options options = {
        .command = "stay",
        .arguments = "",
        .what = "Stay.",
        .list = list,
        .n = 1,
    };
    struct err err;

    return options_parse(&options, argc, argv, &err);
}

static const struct command two[] = {
    { "go", cmd_go, "go", "" },
    { "stay", cmd_stay, "stay", "" },
};

static int setup(void **state)
{
    (void)state;
    memset(&got, 0, sizeof(got));
    commands_set(two, 2);
    options_set_defaults(NULL, 0);
    return 0;
}

/* Run 'go' with at most one flag, after a file and an environment. */
static int go(const char *file, char *const *environment, const char *flag)
{
    struct user_config config = { NULL, 0 };
    struct err err = { "" };
    char name[] = "go", copy[64] = "";
    char *argv[] = { name, flag ? copy : NULL, NULL };
    int rc;

    if (flag)
        (void)strncpy(copy, flag, sizeof(copy) - 1);
    assert_int_equal(
        user_config_parse(file, "config", "/home/me", &config, &err), 0);
    if (environment)
        assert_int_equal(user_config_environment(environment, &config, &err),
                         0);
    options_set_defaults(config.list, config.n);
    rc = cmd_go(flag ? 2 : 1, argv);
    if (rc == 0 && got.hosts)
        assert_string_not_equal(got.hosts, "");
    options_set_defaults(NULL, 0);
    if (got.hosts && strcmp(got.hosts, "/home/me/gpus.txt") == 0)
        got.hosts = "home";
    else if (got.hosts && strcmp(got.hosts, "other.txt") == 0)
        got.hosts = "other";
    user_config_fini(&config);
    return rc;
}

static void a_file_gives_values_to_flags(void **state)
{
    (void)state;
    assert_int_equal(go("# mine\n\n hosts = ~/gpus.txt \n"
                        "go.budget=2.5\nquiet = true",
                        NULL, NULL),
                     0);
    assert_string_equal(got.hosts, "home");
    assert_true(got.quiet);
    assert_true(got.budget > 2.4 && got.budget < 2.6);
}

/* As editors of Windows write it. */
static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    assert_int_equal(go("\xef\xbb\xbfgo.budget=2.5\r\n", NULL, NULL), 0);
    assert_true(got.budget > 2.4 && got.budget < 2.6);
}

static void what_names_the_command_counts_more(void **state)
{
    (void)state;
    assert_int_equal(go("go.budget = 3\nbudget = 7\n", NULL, NULL), 0);
    assert_true(got.budget < 4);
}

static void the_environment_overrules_the_file(void **state)
{
    char variable[] = "FA_COORD_HOSTS=other.txt", unrelated[] = "HOSTS=x";
    char *environment[] = { unrelated, variable, NULL };

    (void)state;
    assert_int_equal(go("go.hosts = ~/gpus.txt\n", environment, NULL), 0);
    assert_string_equal(got.hosts, "other");
}

static void an_empty_variable_takes_away_what_the_file_says(void **state)
{
    char hosts[] = "FA_COORD_HOSTS=", quiet[] = "FA_COORD_QUIET=";
    char *environment[] = { hosts, quiet, NULL };

    (void)state;
    assert_int_equal(go("go.hosts = ~/gpus.txt\nquiet = true\nbudget = 7\n",
                        environment, NULL),
                     0);
    assert_null(got.hosts);
    assert_false(got.quiet);
    assert_true(got.budget > 6);
}

static void the_command_line_overrules_both(void **state)
{
    char variable[] = "FA_COORD_BUDGET=9";
    char *environment[] = { variable, NULL };

    (void)state;
    assert_int_equal(go("budget = 7\n", environment, "--budget=1"), 0);
    assert_true(got.budget < 2);
}

static void a_default_gives_way_to_a_flag_that_excludes_it(void **state)
{
    (void)state;
    assert_int_equal(go("quiet = true\n", NULL, "--json"), 0);
    assert_true(got.json);
    assert_false(got.quiet);
}

static void a_value_that_is_no_value_is_refused(void **state)
{
    (void)state;
    assert_int_equal(go("budget = much\n", NULL, NULL), ERR_INPUT);
    assert_int_equal(go("quiet = yes\n", NULL, NULL), ERR_INPUT);
}

static void assert_refused(const char *file, const char *message)
{
    struct user_config config = { NULL, 0 };
    struct err err = { "" };

    assert_int_equal(user_config_parse(file, "config", NULL, &config, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, message);
    user_config_fini(&config);
}

static void a_line_that_means_nothing_is_named(void **state)
{
    (void)state;
    assert_refused("\nhosts\n", "config:2: a line is NAME = VALUE");
    assert_refused("hots = x\n", "config:1: fa-coord has no flag '--hots'; did "
                                 "you mean '--hosts'?");
    assert_refused("stay.budget = 1\n",
                   "config:1: 'stay' has no flag '--budget'");
    assert_refused("run.budget = 1\n", "config:1: there is no command 'run'");
    assert_refused("staay.budget = 1\n",
                   "config:1: there is no command 'staay'; did you mean "
                   "'stay'?");
    assert_refused(" = 1\n", "config:1: a line is NAME = VALUE");
    assert_refused("stay. = 1\n", "config:1: a line is NAME = VALUE");
    assert_refused("force = true\n",
                   "config:1: --force works on the command line only");
}

static void a_variable_that_names_no_flag_is_refused(void **state)
{
    char variable[] = "FA_COORD_BUDGE=1", empty[] = "FA_COORD_BUDGE=";
    char *environment[] = { variable, NULL };
    struct user_config config = { NULL, 0 };
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        user_config_environment((char *[]){ empty, NULL }, &config, &err),
        ERR_INPUT);
    assert_int_equal(user_config_environment(environment, &config, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "FA_COORD_BUDGE: fa-coord has no flag "
                                  "'--budge'; did you mean '--budget'?");
    user_config_fini(&config);
}

/* Read it from XDG_CONFIG_HOME; returns what user_config_load() does. */
static int load(const char *base, struct err *err)
{
    struct user_config config = { NULL, 0 };
    int rc;

    assert_int_equal(setenv("XDG_CONFIG_HOME", base, 1), 0);
    rc = user_config_load(&config, err);
    user_config_fini(&config);
    return rc;
}

static void a_file_that_cannot_be_read_is_not_an_empty_one(void **state)
{
    struct rlimit limit, none;
    char base[] = "/tmp/fa_config_XXXXXX", folder[64], file[64];
    struct err err = { "" };

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof(folder), "%s/fa-coord", base);
    snprintf(file, sizeof(file), "%s/config", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(load(base, &err), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_int_equal(load(base, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "fa-coord/config: Is a directory"));
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(close(creat(file, 0600)), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){ 0, limit.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(load(base, &err), ERR_SYSTEM);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_non_null(strstr(err.text, "fa-coord/config: Too many open files; "
                                     "raise 'ulimit -n'"));
    assert_int_equal(remove(file), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rmdir(base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_gives_values_to_flags, setup),
        cmocka_unit_test_setup(a_byte_order_mark_is_skipped, setup),
        cmocka_unit_test_setup(what_names_the_command_counts_more, setup),
        cmocka_unit_test_setup(the_environment_overrules_the_file, setup),
        cmocka_unit_test_setup(an_empty_variable_takes_away_what_the_file_says,
                               setup),
        cmocka_unit_test_setup(the_command_line_overrules_both, setup),
        cmocka_unit_test_setup(a_default_gives_way_to_a_flag_that_excludes_it,
                               setup),
        cmocka_unit_test_setup(a_value_that_is_no_value_is_refused, setup),
        cmocka_unit_test_setup(a_line_that_means_nothing_is_named, setup),
        cmocka_unit_test_setup(a_variable_that_names_no_flag_is_refused, setup),
        cmocka_unit_test_setup(a_file_that_cannot_be_read_is_not_an_empty_one,
                               setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
