/* fa-coord: the table of its commands */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/limits.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/tasks/fail.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/suggest.h"
#include "coordinator/text/terminal.h"

static const struct cmd {
    const char *name;
    int (*run)(int argc, char *argv[]);
    const char *help;
} cmds[] = {
    { "check", cmd_check, "validate a sweep file offline" },
    { "space", cmd_space, "show what each gate rejects and what passes" },
    { "doctor", cmd_doctor, "check that this machine and the hosts are ready" },
    { "sweep", cmd_sweep, "start a sweep, or continue one that stopped" },
    { "resume", cmd_resume, "continue the sweep of a database" },
    { "confirm", cmd_confirm, "compare the best of a sweep with its baseline" },
    { "bench", cmd_bench, "compare baseline and winners at each shape" },
    { "fuzz", cmd_fuzz, "check configurations at many shapes" },
    { "profile", cmd_profile,
      "profile winner and baseline with Nsight Compute" },
    { "status", cmd_status,
      "show the progress of a sweep, also while it runs" },
    { "watch", cmd_watch, "watch a sweep until it ends" },
    { "report", cmd_report, "show the results and the cost of a sweep" },
    { "compare", cmd_compare, "compare two databases: is the second slower?" },
    { "explain", cmd_explain,
      "explain why a configuration failed or has its rank" },
    { "export", cmd_export,
      "export the winner as a C header, JSON or nvcc options" },
    { "import", cmd_import, "import results of another tuner" },
    { "verify", cmd_verify, "verify checksums and invariants of a database" },
    { "recover", cmd_recover, "copy what holds of a damaged database" },
};

enum {
    N_CMDS = sizeof(cmds) / sizeof(cmds[0])
};

static void usage(FILE *to)
{
    const struct exit_meaning *meaning;

    fprintf(to, "usage: fa-coord COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; i < N_CMDS; i++)
        fprintf(to, "  %-9s %s\n", cmds[i].name, cmds[i].help);
    fprintf(to, "\nSee also: fa-coord COMMAND --help, fa-coord --version.\n\n"
                "exit codes (fuzz and compare have answers of their own):\n");
    for (size_t i = 0; (meaning = exit_code_meaning(i)); i++)
        fprintf(to, "  %-13s %s\n", meaning->codes, meaning->text);
}

static int unknown(const char *name)
{
    const char *names[N_CMDS], *near;

    for (size_t i = 0; i < N_CMDS; i++)
        names[i] = cmds[i].name;
    near = suggest_name(name, strlen(name), names, N_CMDS);
    fprintf(stderr, "fa-coord: there is no command '%.64s'; ", name);
    if (near)
        fprintf(stderr, "did you mean '%s'?\n", near);
    else
        fprintf(stderr, "see fa-coord --help\n");
    return EXIT_INPUT;
}

/* If a standard descriptor is closed, the next file opened would take its
 * number, and messages would be written into that file. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
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

static int run(int argc, char *argv[])
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("fa-coord %s\n", FA_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < N_CMDS; i++)
        if (strcmp(argv[1], cmds[i].name) == 0)
            return cmds[i].run(argc - 1, argv + 1);
    return unknown(argv[1]);
}

int main(int argc, char *argv[])
{
    struct err err;
    int rc;

    hold_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* write() reports a reader that went away */
    limits_setup();
    rc = hash_setup(&err);
    return flushed(rc < 0 ? fail_with(rc, &err) : run(argc, argv));
}
