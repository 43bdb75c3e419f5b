/* hand.h - the thread that drives the connection to one host (crew.h)
 *
 * The starter and the thread have one PAIR socket each and share nothing
 * else: news goes one way, STOP the other.  All functions are the starter's.
 */
#ifndef FA_COORDINATOR_HAND_H
#define FA_COORDINATOR_HAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/invite.h"
#include "coordinator/crew.h"

struct err;
struct hand;
struct host;
struct program;

struct hand_task {
    size_t index;                  /* of the host, for the news */
    const struct host *host;       /* borrowed; outlives the thread */
    const struct program *program; /* the worker; likewise */
    struct invite invite;          /* for the worker, wiped at the end */
};

/* ERR_SYSTEM, and '*out' is NULL. */
int hand_start(void *zctx, const struct hand_task *task,
               const struct crew_options *options, struct hand **out,
               struct err *err);

/* The socket to poll for news, and the news, one at a time: 1 and 'out', or
 * 0. */
void *hand_socket(struct hand *hand);
int hand_recv(struct hand *hand, struct crew_news *out);

/* Tell it to end. */
void hand_dismiss(struct hand *hand);
/* Wait for the end and free it.  False when it is still inside a login, which
 * cannot be interrupted: it is left with what it holds. */
bool hand_join(struct hand *hand, int64_t until_ns);

#endif
