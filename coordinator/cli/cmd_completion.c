#include <stdio.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/usage/completion.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/terminal.h"

int cmd_completion(int argc, char *argv[])
{
    const char *shell = NULL;
    const struct options options = {
        .command = "completion",
        .arguments = "bash|zsh|fish",
        .what = "Print a script that completes commands, flags and values in "
                "a shell.",
        .arguments_min = 1,
        .arguments_max = 1,
        .plain = &shell,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = completion_print(shell, stdout, &err);
    if (rc == 0)
        rc = terminal_flush(stdout, &err);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
