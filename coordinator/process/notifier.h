/* notifier.h - a command that is run for each event, one after another
 *
 * A process of its own starts the command, so nothing here waits for it.  Each
 * event is a JSON object, which the command gets as one line on its stdin, with
 * "dropped" as its first member: how many events before it were dropped,
 * because more than EVENT_QUEUE_MAX waited.  The command has a session of its
 * own. What it prints on stdout is dropped; the end of its stderr is shown at
 * the end if it failed. Thread rule: one thread; start it before any other one.
 */
#ifndef FA_COORDINATOR_PROCESS_NOTIFIER_H
#define FA_COORDINATOR_PROCESS_NOTIFIER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/clock.h"

struct err;

#define NOTIFIER_LIMIT_NS \
    (30 * NS_PER_S)             /* for one command, then it is killed */
#define NOTIFIER_BYTES_MAX 4096 /* of an event */

struct notifier {
    pid_t pid;        /* 0: none */
    const char *name; /* of the flag */
    int fd;           /* events go to it */
    int64_t unsent;   /* that the process could not take */
};

/* 'argv[0]' is looked up in PATH for each event.  'name' is for the warning
 * that some commands failed.  Both are borrowed until the end.  ERR_SYSTEM */
int notifier_start(const char *const argv[], const char *name, int64_t limit_ns,
                   struct notifier *out, struct err *err);

/* 'object' is a JSON object in one line; a longer one is dropped.  Never
 * blocks. */
void notifier_send(struct notifier *notifier, const char *object, size_t len);

/* No event follows: wait for those that are left, altogether one limit, and
 * then for the last one, one limit more.  A wait of more than a second is said;
 * SIGINT, SIGTERM and SIGHUP end it, and the command.  Nothing without one. */
void notifier_stop(struct notifier *notifier);

#endif
