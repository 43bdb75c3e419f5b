/* fa-coord: the table of its commands */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/suggest.h"
#include "coordinator/cmd.h"
#include "coordinator/terminal.h"

static const struct cmd {
    const char *name;
    int (*run)(int argc, char *argv[]);
    const char *help;
} cmds[] = {
    { "check", cmd_check, "validate a sweep offline: points, gates, time" },
    { "space", cmd_space, "the gate table and the configurations left" },
    { "doctor", cmd_doctor, "is this machine, is every host fit for a sweep" },
    { "sweep", cmd_sweep, "start a sweep, or go on with one that stopped" },
    { "resume", cmd_resume, "go on with what a database holds" },
    { "confirm", cmd_confirm, "the best of a sweep against its baseline" },
    { "bench", cmd_bench, "baseline and winners at each shape" },
    { "fuzz", cmd_fuzz, "are configurations right at many shapes?" },
    { "profile", cmd_profile,
      "Nsight Compute on a shape's winner and baseline" },
    { "status", cmd_status, "how far a sweep is; may be asked while it runs" },
    { "report", cmd_report, "what a sweep came to, and what it cost" },
    { "compare", cmd_compare, "did it become slower: two databases" },
    { "explain", cmd_explain, "why a configuration failed or ranks there" },
    { "export", cmd_export, "the winner as a C header, JSON or nvcc options" },
    { "import", cmd_import, "what another tuner measured, as a database" },
    { "verify", cmd_verify, "checksums and invariants of a database" },
};

enum {
    N_CMDS = sizeof(cmds) / sizeof(cmds[0])
};

static void usage(FILE *to)
{
    fprintf(to, "usage: fa-coord COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; i < N_CMDS; i++)
        fprintf(to, "  %-9s %s\n", cmds[i].name, cmds[i].help);
    fprintf(to, "\nfa-coord COMMAND --help tells more; fa-coord --version.\n");
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
    return 2;
}

/* A descriptor that is closed would be taken by the next file opened, and
 * messages would be written into it. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

/* A listing that did not reach its file is no success. */
static int flushed(int code)
{
    struct err err;
    int rc = terminal_flush(stdout, &err);

    if (rc == 0 || code)
        return code;
    return cmd_fail(rc, &err);
}

static int run(int argc, char *argv[])
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("fa-coord %s\n", FA_VERSION);
        return 0;
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
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves is an error of write() */
    rc = hash_setup(&err);
    return flushed(rc < 0 ? cmd_fail(rc, &err) : run(argc, argv));
}
