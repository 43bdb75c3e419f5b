/* What the completion of a shell says of each kind of flag. */
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
#include "coordinator/usage/commands.h"
#include "coordinator/usage/completion.h"

static int cmd_go(int argc, char *argv[])
{
    static const char *hosts, *device;
    static struct option_list shapes;
    static bool quiet;
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &hosts, "FILE", "where", NULL },
        { "device", OPTION_TEXT, &device, "cpu|replay=FILE", "on what", NULL },
        { "shape", OPTION_LIST, &shapes, "NAME", "at what", NULL },
        { "quiet", OPTION_FLAG, &quiet, NULL, "no words", NULL },
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

static const struct command one[] = { { "go", cmd_go, "go", "" } };

static void expect(const char *shell, const char *const *parts, size_t n)
{
    char text[8000] = "";
    FILE *to = fmemopen(text, sizeof(text), "w");
    struct err err;

    commands_set(one, 1);
    assert_int_equal(completion_print(shell, to, &err), 0);
    fclose(to);
    for (size_t i = 0; i < n; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no %s in:\n%s", parts[i], text);
}

static void a_value_of_zsh_may_follow_an_equals_sign(void **state)
{
    static const char *const parts[] = {
        "'--hosts=[where]:FILE:_files'",
        "'--device=[on what]:cpu|replay=FILE:(cpu replay=)'",
        "'*--shape=[at what]:NAME: '",
        "'--quiet[no words]'",
    };

    (void)state;
    expect("zsh", parts, sizeof(parts) / sizeof(parts[0]));
}

static void a_value_of_fish_is_a_file_or_a_choice(void **state)
{
    static const char *const parts[] = {
        "-l hosts -r -F -d 'where'",
        "-l device -x -a 'cpu replay=' -d 'on what'",
        "-l shape -x -d 'at what'",
        "-l quiet -d 'no words'",
    };

    (void)state;
    expect("fish", parts, sizeof(parts) / sizeof(parts[0]));
}

static void an_unknown_shell_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(completion_print("bosh", stdout, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "completion: there is no completion for 'bosh'; choose "
                        "bash, zsh or fish; did you mean 'bash'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_zsh_may_follow_an_equals_sign),
        cmocka_unit_test(a_value_of_fish_is_a_file_or_a_choice),
        cmocka_unit_test(an_unknown_shell_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
