/* fa-coord: runs the command that is named */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/limits.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/cli/command_table.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/sql/sql.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/terminal.h"
#include "coordinator/usage/commands.h"
#include "coordinator/usage/help.h"
#include "coordinator/usage/user_config.h"

static int unknown(const char *name)
{
    const char *near = commands_near(name);

    fprintf(stderr, "fa-coord: there is no command '%.64s'; ", name);
    if (near)
        fprintf(stderr, "did you mean '%s'?\n", near);
    else
        fprintf(stderr, "see fa-coord --help\n");
    return EXIT_INPUT;
}

/* If a standard descriptor is closed, the next file opened would take its
 * number, and messages would be written into that file.  Output that is lost
 * is an error: where stdout is closed, a write fails. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
}

/* If the output did not reach its file, the command fails. */
static int flushed(int code)
{
    struct err err;
    int rc = terminal_flush(stdout, &err);

    if (rc == 0 || code != EXIT_DONE)
        return code;
    return fail_with(rc, &err);
}

/* 'config' reads the defaults itself; help and completion need none. */
static bool takes_defaults(const struct command *command)
{
    return command->run != cmd_config && command->run != cmd_help &&
           command->run != cmd_completion;
}

static int run_command(const struct command *command, int argc, char *argv[])
{
    struct user_config config = { NULL, 0 };
    struct err err;
    int rc = 0;

    if (takes_defaults(command))
        rc = user_config_load(&config, &err);
    if (rc < 0)
        return fail_with(rc, &err);
    options_set_defaults(config.list, config.n);
    options_on_help(help_command, stdout);
    rc = command->run(argc, argv);
    user_config_fini(&config);
    return rc;
}

static bool asks_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
           strcmp(word, "version") == 0;
}

static int run(int argc, char *argv[])
{
    const struct command *command;

    if (argc < 2) {
        help_commands(stderr);
        return EXIT_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_commands(stdout);
        return EXIT_DONE;
    }
    if (asks_version(argv[1])) {
        printf("fa-coord %s\n", FA_VERSION);
        return EXIT_DONE;
    }
    command = commands_find(argv[1]);
    return command ? run_command(command, argc - 1, argv + 1)
                   : unknown(argv[1]);
}

int main(int argc, char *argv[])
{
    struct err err;
    int rc;

    hold_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* write() reports a reader that went away */
    signal(SIGCHLD, SIG_DFL); /* or no child would tell how it ended */
    limits_setup();
    command_table_use();
    sql_setup();
    rc = hash_setup(&err);
    return flushed(rc < 0 ? fail_with(rc, &err) : run(argc, argv));
}
