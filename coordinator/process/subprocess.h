/* subprocess.h - a program started without a shell, on the far end of a socket
 *
 * Its stdin and stdout are one socket pair (non-blocking here), its stderr a
 * pipe.  It gets a session of its own, so that Ctrl-C on the terminal reaches
 * only fa-coord, and the default signals.
 * Thread rule: one thread a child.
 */
#ifndef FA_COORDINATOR_PROCESS_SUBPROCESS_H
#define FA_COORDINATOR_PROCESS_SUBPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;

struct subprocess {
    pid_t pid;  /* 0: none, or reaped */
    int fd;     /* its stdin and stdout */
    int errors; /* its stderr; -1 after end-of-file */
};

/* 'argv[0]' is looked up in PATH. ERR_SYSTEM names it if it cannot be
 * started. */
int subprocess_start(const char *const argv[], struct subprocess *out,
                     struct err *err);

/* Wait until the deadline.  Returns 0 with the exit status, or 128 + signal;
 * ERR_NETWORK if it still runs. */
int subprocess_wait(struct subprocess *child, int64_t deadline_ns, int *status,
                    struct err *err);

/* Close its sockets, give it a moment to end by itself, then kill its process
 * group.  Does nothing if no child runs. */
void subprocess_stop(struct subprocess *child);

/* Run it to the end and collect stdout; stderr goes into 'errors' (may be
 * NULL). The status is 127 if the program does not exist. */
struct stderr_tail;
int subprocess_output(const char *const argv[], int64_t deadline_ns,
                      struct buf *out, struct stderr_tail *errors, int *status,
                      struct err *err);

#endif
