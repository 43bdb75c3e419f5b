/* host_thread.h - the thread that drives the connection to one host
 * (host_threads.h)
 *
 * The starter and the thread have one end each of a PAIR socket pair and share
 * nothing else.  News goes one way, STOP the other.  Only the starter may call
 * these functions.
 */
#ifndef FA_COORDINATOR_LINK_HOST_THREAD_H
#define FA_COORDINATOR_LINK_HOST_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/invite.h"
#include "coordinator/link/host_threads.h"

struct err;
struct host_thread;
struct host;
struct wake;
struct worker_binary;

struct host_thread_task {
    size_t index;                        /* of the host, for the news */
    const struct host *host;             /* borrowed; outlives the thread */
    const struct worker_binary *program; /* the worker; likewise */
    struct invite invite;                /* for the worker, wiped at the end */
};

/* ERR_SYSTEM, and '*out' is NULL. */
int host_thread_start(void *zctx, const struct host_thread_task *task,
                      const struct host_threads_options *options,
                      struct host_thread **out, struct err *err);

/* What to wait for.  _recv() takes one piece of news: 1 and 'out', or 0. */
struct wake *host_thread_wake(struct host_thread *thread);
int host_thread_recv(struct host_thread *thread, struct host_thread_news *out);

/* Tell it that its login may begin, for which it has asked. */
void host_thread_admit(struct host_thread *thread);

/* Tell it to drop its connection, if it has one, and to connect again. */
void host_thread_reconnect(struct host_thread *thread);

/* Tell it that its machine was acquired, and where it is; and to drop its
 * connection and wait for that. */
void host_thread_rented(struct host_thread *thread, const struct host *place);
void host_thread_park(struct host_thread *thread);

/* Tell it to end. */
void host_thread_dismiss(struct host_thread *thread);
/* Tell it to end, wait for that, and free it.  False if it is still inside a
 * login, which cannot be interrupted: then the thread and what it holds are
 * leaked. */
bool host_thread_join(struct host_thread *thread, int64_t until_ns);

#endif
