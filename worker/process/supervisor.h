/* supervisor.h - the process between the worker and a program (child.h)
 *
 * It runs after clone() in a copy of a process that may have had threads.  So
 * it makes system calls only: no allocation, no stdio, no locks.
 */
#ifndef FA_WORKER_PROCESS_SUPERVISOR_H
#define FA_WORKER_PROCESS_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum supervisor_kind {
    SUPERVISOR_NAMESPACE,      /* process 1 of a PID namespace with its /proc */
    SUPERVISOR_USER_NAMESPACE, /* the same inside a user namespace, which gives
                                * the right to do it */
    SUPERVISOR_SUBREAPER,      /* if neither is allowed */
    SUPERVISOR_KINDS,
};

/* To the keeper: TERM asks all processes to end, SUPERVISOR_END ends them.
 * SUPERVISOR_PAUSE stops them, where they are, until SUPERVISOR_GO. */
#define SUPERVISOR_END SIGUSR1
#define SUPERVISOR_PAUSE SIGUSR2
#define SUPERVISOR_GO SIGCONT

struct sandbox;

struct supervisor_order {
    enum supervisor_kind kind;
    const struct sandbox *sandbox; /* what it sees; NULL: everything */
    int rules;                     /* of it by Landlock; -1: none */
    const char *const *argv, *const *env;
    const char *folder;
    int in, out, err;      /* the program's */
    int gate;              /* a byte: start; end of file: the worker has
                            * ended */
    int report;            /* receives keeper_reports */
    uint64_t memory_bytes; /* 0: no limit */
    uid_t uid;
    gid_t gid;
};

struct supervisor_report {
    int exec_errno; /* not 0: the program could not be executed */
    int status;     /* as of waitpid() */
};

/* Process id of a keeper that runs 'order', or -1 with errno. */
pid_t supervisor_start(const struct supervisor_order *order);

/* Does this host allow that kind, and mounts for the sandbox, if not NULL? */
bool supervisor_can(enum supervisor_kind kind, const struct sandbox *sandbox);

/* KILL every direct child of this process except those in 'spare'. Returns the
 * number killed. */
int supervisor_kill_children(bool (*spare)(pid_t pid));

#endif
