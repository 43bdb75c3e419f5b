/* child.h - runs a program in a container that it cannot leave
 *
 *   worker -> keeper (our code, never execs) -> program and what it starts
 *
 * If the host allows PID namespaces, the keeper is process 1 of one, so that
 * all processes die with it, whatever session they moved to.  Otherwise it is a
 * sub-reaper that kills its children until none is left.  It dies with the
 * worker.  At its time limit a program gets TERM, and KILL CHILD_GRACE_NS
 * later.  Output is always read, and partly kept.
 *
 * Poll-driven, as all objects of the worker: x_poll() says what to wait for,
 * x_deadline_ns() until when (INT64_MAX: no deadline), and x_step() does all
 * that is possible without waiting.  Times are clock_boot_ns(). One thread, the
 * one that starts children: they end with it.
 */
#ifndef FA_WORKER_PROCESS_CHILD_H
#define FA_WORKER_PROCESS_CHILD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/process/capture.h"
#include "worker/process/sandbox.h"
#include "worker/process/supervisor.h"

struct child;

#define CHILD_GRACE_NS (2 * INT64_C(1000000000))  /* from TERM to KILL */
#define CHILD_STUCK_NS (60 * INT64_C(1000000000)) /* KILL without an end */

enum {
    CHILD_FDS_MAX = 3
};

struct child_spec {
    const char *const *argv;       /* argv[0] is a path, no search; no shell */
    const char *const *env;        /* the complete environment */
    const char *folder;            /* working directory */
    const char *input;             /* file on stdin; NULL: it is empty */
    const struct sandbox *sandbox; /* what it sees; NULL: everything */
    bool interactive;      /* pipes on stdin and stdout: child_in/out() */
    int64_t limit_ns;      /* wall clock; 0: none */
    uint64_t memory_bytes; /* address space of a process; 0: no limit */
    size_t output_bytes;   /* of stdout kept without a gap; 0: CAPTURE_HEAD */
};

struct child_end {
    bool exited; /* false: killed by 'signal' */
    int status;
    int signal;
    bool timed_out; /* we ended it at the limit */
    double seconds;
};

enum child_state {
    CHILD_RUNNING,
    CHILD_STOPPING, /* TERM or KILL sent */
    CHILD_STUCK,    /* KILL sent CHILD_STUCK_NS ago: a driver holds it */
    CHILD_ENDED,    /* no process left, output complete */
};

/* Call once, before the first child.  It makes this process a sub-reaper that
 * ignores SIGPIPE, and finds out what the host allows.  From then on, every
 * child of this process must be started here; any other child (an orphan) is
 * reaped.  Otherwise the first child_start() does it. */
void child_setup(void);
/* The same, as on a host that allows nothing better than 'best'; no child may
 * be alive. */
void child_setup_from(enum supervisor_kind best);
const char *child_containment(void); /* "PID namespace", "sub-reaper", ... */
/* Choose the best means that this host has for it; 'offline' is cleared if a
 * program cannot be put there without network. */
void child_choose_means(struct sandbox *sandbox);

/* ERR_SYSTEM if no process can be made.  If the program cannot be executed, the
 * child has ended with exit status 127 and the reason in its stderr. */
int child_start(const struct child_spec *spec, int64_t now_ns,
                struct child **out, struct err *err);
size_t child_poll(const struct child *child, struct pollfd *fds, size_t max);
int64_t child_deadline_ns(const struct child *child);
enum child_state child_step(struct child *child, int64_t now_ns);

enum child_state child_state(const struct child *child);
const struct child_end *child_end(const struct child *child); /* once ENDED */
struct capture *child_stdout(struct child *child);
struct capture *child_stderr(struct child *child);
int child_in(const struct child *child);  /* interactive; else -1 */
int child_out(const struct child *child); /* both are non-blocking */
void child_close_in(struct child *child);

/* It runs on only after child_go(); kill it, do not stop it, meanwhile. */
void child_pause(const struct child *child);
void child_go(const struct child *child);
void child_stop(struct child *child, int64_t now_ns); /* TERM, then KILL */
void child_kill(struct child *child, int64_t now_ns);
void child_free(struct child *child); /* kills; NULL is fine */

/* Kill, wait at most 'ns' for the end and free. */
void child_finish(struct child *child, int64_t ns);

/* "exit status 3", "signal 11 (SIGSEGV)" */
#define CHILD_END_BYTES 64
void child_end_text(const struct child_end *end, char out[CHILD_END_BYTES]);

#endif
