/* liveness.h - decides when the coordinator is gone and the worker ends
 *
 * A coordinator that has nothing else to send sends a heartbeat.  It counts as
 * gone after LIVENESS_BEATS missed heartbeats.  Only then does the linger time
 * of the worker begin, however short it is.
 * Pure.
 */
#ifndef FA_WORKER_AGENT_LIVENESS_H
#define FA_WORKER_AGENT_LIVENESS_H

#include <stdint.h>

#include "common/clock.h"

#define LIVENESS_BEATS 3 /* 15 s at 5 s each; the coordinator waits as long */
#define LIVENESS_BEAT_NS (5 * NS_PER_S) /* until a WELCOME sets it */

struct liveness {
    int64_t heard_ns;      /* the last message, an invitation, or the start */
    int64_t beat_every_ns; /* between its heartbeats */
    int64_t linger_ns;     /* how long the worker stays without it */
};

/* Of a worker that no coordinator has invited yet.  It does not linger: a relay
 * that brings an invitation later starts another one. */
struct liveness liveness_uninvited(int64_t now_ns);

int64_t liveness_ends_ns(const struct liveness *liveness);

#endif
