/* model_child.h - this program, run once more for one GPU model
 *
 * The child has a session of its own, so that Ctrl-C on the terminal reaches it
 * only through its parent, which passes signals on.  If the parent is killed,
 * the kernel sends the child SIGTERM: it then ends as after Ctrl-C, and lets
 * its machines go.
 * Thread rule: the main thread, while no other runs (fork()).
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_CHILD_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_CHILD_H

#include <sys/types.h>

struct err;

struct model_child {
    pid_t pid;       /* 0: none, or reaped */
    int end;         /* readable when it has ended (pidfd); -1: none */
    int out, errors; /* its stdout and stderr, non-blocking; -1: closed */
    int budget;      /* to tell it of more (run_budget.h); -1: closed */
};

/* 'argv' from argv[1] on, ends in NULL.  ERR_SYSTEM */
int model_child_start(char *const arguments[], struct model_child *out,
                      struct err *err);
/* It may spend so much more. */
void model_child_more(const struct model_child *child, double usd);
/* After 'end' is readable: its status, or 128 + signal. */
int model_child_reap(struct model_child *child);

#endif
