/* claim.h - may a coordinator take over a worker that serves another?
 *
 * A worker belongs to the sweep that invited it first.  The proof is the
 * owner's id, which only the database and its invitations hold, so 'resume'
 * gets its worker back after a kill.  Names prove nothing: a refusal shows
 * them.  Any other coordinator waits until the worker has ended: when its owner
 * lets it go, or when the linger time is over.  No work of the owner runs then
 * that could pretend to be a coordinator.  Steps of one command have databases
 * of their own, and follow each other within seconds: between them the worker
 * is kept for the command, which has a secret, too.
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
/* An epoch is a time.  Between two runs a coordinator's clock may be set, but
 * not by more than this. */
#define CLAIM_EPOCH_STEP_NS (24 * 3600 * NS_PER_S)
#define CLAIM_EPOCH_MAX INT64_C(4102444800000000000) /* the year 2100 */

#define CLAIM_GPUS_BYTES 40

/* The owner of a worker. */
struct claim_owner {
    const struct invite *invite; /* NULL: none yet */
    const char *gpus;   /* "0,1", that it uses; "": none, or emulated */
    bool attached;      /* its relay is connected */
    bool dismissed;     /* it has let the worker go */
    bool kept;          /* by STOP 'next', for the next step of its command */
    int64_t invited_ns; /* since its invitation was taken */
    int64_t silent_ns;  /* since it was last heard */
    int64_t ends_ns;    /* until the worker ends without it */
};

#define CLAIM_BUSY 1 /* it is another sweep's */

/* Returns 0, CLAIM_BUSY with a text that names the owner, or ERR_AUTH. */
int claim_check(const struct claim_owner *owner, const struct invite *newcomer,
                struct err *err);

#define CLAIM_AGAIN 2 /* it is of the run that is served */

/* May a worker that dialled back with the invitation of 'owner' take 'next'
 * from the other end of that connection?  If it is of the same server key and
 * of a later run; or of an earlier one, as with a clock that was set back, when
 * the worker is kept for that command or its own coordinator is silent.
 * Returns 0, CLAIM_AGAIN or ERR_AUTH. */
int claim_follow(const struct claim_owner *owner, const struct invite *next,
                 struct err *err);

enum claim_message {
    CLAIM_TAKE,
    CLAIM_DROP,
    CLAIM_GREET /* and say HELLO: its run has not invited this worker yet */
};

/* What to do with a message of epoch 'its' in a run of epoch 'own'. */
enum claim_message claim_message(int64_t own, int64_t its);

/* May the worker of folder 'dir' connect to an endpoint that came over its
 * control socket?  Only to a relay in its folder, and to "tcp://..." if 'tcp':
 * it began with one.  Returns 0 or ERR_AUTH. */
int claim_endpoint(const char *dir, bool tcp, const char *endpoint,
                   struct err *err);

#endif
