/* files.h - what leases need: bundles of sources, artifacts, and their way
 *
 * Bundles are kept in memory (a few; they can be had again), artifacts in the
 * cache.  Whatever arrives is hashed before it counts.
 * Thread rule: one thread.  Does no networking: the caller sends.
 */
#ifndef FA_WORKER_FILES_H
#define FA_WORKER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg.h"
#include "worker/cache.h"

#define FILES_BUNDLES_MAX 8
#define FILES_ARTIFACT_MAX (64 << 20) /* a cubin has some 100 KiB */

struct files;

struct files *files_new(struct cache *cache); /* borrowed */
void files_free(struct files *files);         /* NULL is fine */

/* NULL when it is not here (any more); valid until the next bundle. */
const struct msg *files_bundle(struct files *files, const char *hash);

/* True when a WANT should be sent for it: not asked for lately. */
bool files_want(struct files *files, const char *hash, int64_t now_ns);
void files_forget_wants(struct files *files); /* a new coordinator */

/* Take a BUNDLE ('msg' is empty then), a chunk of an ARTIFACT: 1 when it is
 * whole and here, 0 when chunks are to follow or nobody asked.  ERR_PROTO:
 * it is not what its hash says; asked for again after a while.  ERR_SYSTEM:
 * the cache cannot store it. */
int files_take_bundle(struct files *files, struct msg *msg, struct err *err);
int files_take_chunk(struct files *files, const struct msg *msg,
                     struct err *err);

/* Note that an artifact is to be sent; false when it is not here. */
bool files_fetch(struct files *files, const char *hash);
/* The next chunk to send, as ARTIFACT or, when it vanished, MISSING; what it
 * points to is valid until the next call.  False when all is sent. */
bool files_next_chunk(struct files *files, struct msg *out);

#endif
