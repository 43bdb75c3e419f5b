#include "coordinator/slurm/slurm_ask.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/slurm/slurm_files.h"

#define COMMAND_NS (20 * NS_PER_S)
#define PAUSE_MS 100

/* What a command says, in words of ours where its own tell little. */
static void explain(const struct stderr_tail *errors, const char *program,
                    int status, char out[SLURM_TEXT_BYTES])
{
    char said[140];

    stderr_tail_say(errors, 1, said, sizeof(said));
    if (strstr(errors->text, "unge encode failed"))
        snprintf(out, SLURM_TEXT_BYTES,
                 "munged does not run on this machine: %s cannot authenticate",
                 program);
    else if (status == 127)
        snprintf(out, SLURM_TEXT_BYTES, "%s is not installed here", program);
    else
        snprintf(out, SLURM_TEXT_BYTES, "%s fails: %s", program,
                 said[0] ? said : "it says nothing");
}

int slurm_ask(const char *const argv[], struct buf *out,
              char why[SLURM_TEXT_BYTES])
{
    const char *words[SLURM_ASK_WORDS_MAX + 3] = { "env",
                                                   "SLURM_TIME_FORMAT=%s" };
    struct stderr_tail errors = { .len = 0 };
    struct err err;
    int status = -1, rc;

    for (size_t i = 0; argv[i]; i++) {
        assert(i < SLURM_ASK_WORDS_MAX);
        words[i + 2] = argv[i];
    }
    rc = subprocess_output(words, clock_boot_ns() + COMMAND_NS, out, &errors,
                           &status, &err);
    if (rc == 0 && status == 0)
        return 0;
    if (rc < 0)
        snprintf(why, SLURM_TEXT_BYTES, "%s: %.150s", argv[0], err.text);
    else
        explain(&errors, argv[0], status, why);
    return -1;
}

int slurm_ask_jobs(const char *name, struct slurm_job **out, size_t *n,
                   char why[SLURM_TEXT_BYTES])
{
    char flag[SLURM_NAME_BYTES + 16];
    const char *argv[] = { "squeue",  "--noheader",
                           "--array", "--states=all",
                           flag,      SLURM_ANSWER_FLAG,
                           NULL };
    struct buf answer;
    struct err err;
    int rc;

    *out = NULL;
    *n = 0;
    snprintf(flag, sizeof(flag), "--name=%s", name);
    buf_init(&answer, SLURM_ASK_ANSWER_MAX);
    rc = slurm_ask(argv, &answer, why);
    if (rc == 0 &&
        (rc = slurm_answer_read(buf_text(&answer), out, n, &err)) < 0)
        snprintf(why, SLURM_TEXT_BYTES, "%.190s", err.text);
    buf_fini(&answer);
    return rc < 0 ? -1 : 0;
}

static bool is_interrupted(void)
{
    sigset_t set;

    return sigpending(&set) == 0 &&
           (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
            sigismember(&set, SIGHUP));
}

static bool any_runs(const char *name)
{
    char why[SLURM_TEXT_BYTES];
    struct slurm_job *jobs;
    bool runs = false;
    size_t n;

    if (slurm_ask_jobs(name, &jobs, &n, why) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        runs = runs || jobs[i].state == SLURM_RUNS;
    free(jobs);
    return runs;
}

void slurm_ask_until_ended(const char *name, int64_t deadline_ns)
{
    while (any_runs(name) && clock_boot_ns() < deadline_ns && !is_interrupted())
        poll(NULL, 0, PAUSE_MS);
}

static int ask_accounting(const char *name, int64_t seconds,
                          struct slurm_times *out, char why[SLURM_TEXT_BYTES])
{
    char flag[SLURM_NAME_BYTES + 16], since[48];
    const char *argv[] = { "sacct",      "--allocations",  "--duplicates",
                           "--noheader", "--parsable2",    flag,
                           since,        SLURM_TIMES_FLAG, NULL };
    struct buf answer;
    struct err err;
    int rc;

    snprintf(flag, sizeof(flag), "--name=%s", name);
    snprintf(since, sizeof(since), "--starttime=now-%lld", (long long)seconds);
    buf_init(&answer, SLURM_ASK_ANSWER_MAX);
    rc = slurm_ask(argv, &answer, why);
    if (rc == 0 && (rc = slurm_times_read(buf_text(&answer), out, &err)) < 0)
        snprintf(why, SLURM_TEXT_BYTES, "%.190s", err.text);
    buf_fini(&answer);
    return rc < 0 ? -1 : 0;
}

int slurm_ask_times(const char *name, int64_t seconds, struct slurm_times *out,
                    char why[SLURM_TEXT_BYTES])
{
    struct slurm_job *jobs;
    size_t n;
    bool has = ask_accounting(name, seconds, out, why) == 0;

    if (slurm_ask_jobs(name, &jobs, &n, why) == 0) {
        slurm_times_join(out, jobs, n);
        free(jobs);
        has = true;
    }
    return has ? 0 : -1;
}
