#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/usage/commands.h"
#include "coordinator/usage/help.h"
#include "coordinator/usage/manual.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/terminal.h"

static int explain(const char *name, bool man, struct err *err)
{
    const struct command *command = name ? commands_find(name) : NULL;
    const char *near = name ? commands_near(name) : NULL;

    if (!name && man)
        manual_program(stdout);
    else if (!name)
        help_commands(stdout);
    else if (command)
        commands_options(command, man ? manual_command : help_command, stdout);
    else
        return err_set(err, ERR_INPUT,
                       "help: there is no command '%.64s'; %s%s%s", name,
                       near ? "did you mean '" : "see fa-coord help",
                       near ? near : "", near ? "'?" : "");
    return terminal_flush(stdout, err);
}

int cmd_help(int argc, char *argv[])
{
    bool man = false;
    const char *name = NULL;
    const struct option list[] = {
        { "man", OPTION_FLAG, &man, NULL,
          "print the manual page, as man(1) reads it", NULL },
    };
    const struct options options = {
        .command = "help",
        .arguments = "[COMMAND]",
        .what = "Explain a command, or list all of them.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &name,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = explain(name, man, &err);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
