/* claim.h - may a coordinator have a worker that serves one already?
 *
 * A sweep that was killed and goes on is the same owner, and gets its worker
 * back at once.  Any other has to wait until the owner is done, or has not
 * been heard for CLAIM_SILENCE_NS; when its connection is gone as well, as
 * when it was killed, for CLAIM_GONE_NS, in which it may come back.
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

/* 'now' is the invitation that the worker follows, NULL for none; its owner
 * was heard 'silent_ns' ago, and is 'attached' or not.  0, or an error that
 * names the owner: ERR_AUTH, or ERR_NETWORK when it is worth asking again
 * soon. */
int claim_check(const struct invite *now, int64_t silent_ns, bool attached,
                const struct invite *newcomer, struct err *err);

#endif
