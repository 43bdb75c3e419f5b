/* liveness.h - when a worker ends because its coordinator is gone
 *
 * Silence is not absence: a coordinator that has nothing to say says so once
 * a heartbeat.  It counts as gone when it has missed LIVENESS_BEATS of them;
 * only from then on does its worker linger, however short that is.
 */
#ifndef FA_WORKER_AGENT_LIVENESS_H
#define FA_WORKER_AGENT_LIVENESS_H

#include <stdint.h>

#define LIVENESS_BEATS 3 /* 15 s of 5 s each, as the coordinator waits */

struct liveness {
    int64_t heard_ns;      /* its last word, an invitation, or the start */
    int64_t beat_every_ns; /* between its heartbeats */
    int64_t linger_ns;     /* that the worker stays without it */
};

int64_t liveness_ends_ns(const struct liveness *liveness);

#endif
