/* liveness.h - decides when the coordinator is gone and the worker ends
 *
 * A coordinator that has nothing else to send sends a heartbeat.  It counts as
 * gone after LIVENESS_BEATS missed heartbeats.  Only then does the linger time
 * of the worker begin, however short it is.
 */
#ifndef FA_WORKER_AGENT_LIVENESS_H
#define FA_WORKER_AGENT_LIVENESS_H

#include <stdint.h>

#define LIVENESS_BEATS 3 /* 15 s at 5 s each; the coordinator waits as long */

struct liveness {
    int64_t heard_ns;      /* the last message, an invitation, or the start */
    int64_t beat_every_ns; /* between its heartbeats */
    int64_t linger_ns;     /* how long the worker stays without it */
};

int64_t liveness_ends_ns(const struct liveness *liveness);

#endif
