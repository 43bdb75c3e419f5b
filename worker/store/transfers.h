/* transfers.h - what leases need: bundles of sources, artifacts, and their way
 *
 * Bundles are kept in memory (a few; they can be had again), artifacts in the
 * cache.  Whatever arrives is hashed before it counts.
 * Thread rule: one thread.  Does no networking: the caller sends.
 */
#ifndef FA_WORKER_STORE_TRANSFERS_H
#define FA_WORKER_STORE_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg.h"
#include "worker/store/cache.h"

#define TRANSFERS_BUNDLES_MAX 8
#define TRANSFERS_ARTIFACT_MAX (64 << 20) /* a cubin has some 100 KiB */

struct transfers;

struct transfers *transfers_new(struct cache *cache); /* borrowed */
void transfers_free(struct transfers *transfers);     /* NULL is fine */

/* NULL when it is not here (any more); valid until the next bundle. */
const struct msg_bundle *transfers_bundle(struct transfers *transfers,
                                          const char *hash);

/* True when a WANT should be sent for it: not asked for lately. */
bool transfers_want(struct transfers *transfers, const char *hash,
                    int64_t now_ns);
void transfers_forget_wants(
    struct transfers *transfers); /* a new coordinator */
/* It is missing: the next lease that needs it asks at once. */
void transfers_forget_want(struct transfers *transfers, const char *hash);

/* Take a BUNDLE ('msg' is empty then), a chunk of an ARTIFACT: 1 when it is
 * whole and here, 0 when chunks are to follow or no one has asked for it.
 * ERR_PROTO: it is not what its hash says; asked for again after a while.
 * ERR_SYSTEM: the cache cannot store it. */
int transfers_take_bundle(struct transfers *transfers, struct msg *msg,
                          struct err *err);
int transfers_take_chunk(struct transfers *transfers,
                         const struct msg_artifact *artifact, struct err *err);

/* Note that an artifact is to be sent; false when it is not here. */
bool transfers_fetch(struct transfers *transfers, const char *hash);
/* The next chunk to send, as ARTIFACT or, when it vanished, MISSING; what it
 * points to is valid until the next call.  False when all is sent. */
bool transfers_next_chunk(struct transfers *transfers, struct msg *out);

#endif
