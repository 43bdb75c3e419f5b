/* claim.h - may a coordinator take over a worker that serves another?
 *
 * A sweep that was killed and resumed is the same owner, and gets its worker
 * back at once.  Any other coordinator must wait until the owner is done, or
 * has been silent for CLAIM_SILENCE_NS. If the owner's connection is gone too
 * (it may have been killed), CLAIM_GONE_NS of silence is enough; in that time
 * the owner may come back.
 * Pure.
 */
#ifndef FA_WORKER_AGENT_CLAIM_H
#define FA_WORKER_AGENT_CLAIM_H

#include <stdbool.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/invite.h"

#define CLAIM_SILENCE_NS (30 * NS_PER_S)
#define CLAIM_GONE_NS (10 * NS_PER_S) /* two heartbeats */

/* 'now' is the invitation that the worker serves, NULL for none.  Its owner was
 * last heard 'silent_ns' ago, and is 'attached' or not.  Returns 0, or an error
 * that names the owner: ERR_AUTH, or ERR_NETWORK if asking again soon can
 * help. */
int claim_check(const struct invite *now, int64_t silent_ns, bool attached,
                const struct invite *newcomer, struct err *err);

#endif
