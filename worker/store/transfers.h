/* transfers.h - transfers the files that leases need: bundles and artifacts
 *
 * Bundles of sources are on disk (bundles.h), and a few of them in memory;
 * artifacts are in the cache, and those that are still arriving in files of
 * their own (part.h).  What another worker of the folder has asked for is
 * waited for (asked.h).  Every file is hashed when it arrives, and a bundle
 * also when it is read.
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
#define TRANSFERS_ARTIFACT_MAX (64 << 20)        /* a cubin has some 100 KiB */
#define TRANSFERS_PARTS_BYTES (INT64_C(1) << 30) /* a sweep has 256 MiB */

struct transfers;

/* 'parts_bytes' is the ceiling of all artifacts together that are still
 * arriving; 'cache' is borrowed. */
struct transfers *transfers_new(struct cache *cache, int64_t parts_bytes);
void transfers_free(struct transfers *transfers); /* NULL is fine */

/* NULL when it is not here (any more), also not on disk; valid until the next
 * bundle. */
const struct msg_bundle *transfers_bundle(struct transfers *transfers,
                                          const char *hash);

/* True if 'out', a WANT for it, should be sent: it was not requested recently,
 * nor by another worker of this folder.
 * 'what' is a word of a WANT (static). */
bool transfers_want(struct transfers *transfers, const char *what,
                    const char *hash, int64_t now_ns, struct msg *out);
/* A chunk has arrived.  The same for the next window, if it was of an input and
 * the last of its window. */
bool transfers_want_window(struct transfers *transfers, const char *hash,
                           int64_t now_ns, struct msg *out);
void transfers_forget_wants(
    struct transfers *transfers); /* after a change of coordinator */
/* It is missing: the next lease that needs it requests it at once. */
void transfers_forget_want(struct transfers *transfers, const char *hash);

/* Take a BUNDLE ('msg' is empty then), or a chunk of an ARTIFACT. Returns 1 if
 * the file is complete and stored, 0 if chunks are missing or nobody requested
 * it.  ERR_PROTO: its contents do not match its hash, or it is beyond a limit;
 * it is requested again after a while.  ERR_SYSTEM: it cannot be stored. */
int transfers_take_bundle(struct transfers *transfers, struct msg *msg,
                          struct err *err);
int transfers_take_chunk(struct transfers *transfers,
                         const struct msg_artifact *artifact, struct err *err);

/* Queue an artifact for sending; false if it is not here. */
bool transfers_fetch(struct transfers *transfers, const char *hash);
/* The next chunk to send, as ARTIFACT or, if the file has vanished, MISSING.
 * Pointers in it are valid until the next call.  False when all is sent. */
bool transfers_next_chunk(struct transfers *transfers, struct msg *out);

#endif
