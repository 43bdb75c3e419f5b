/* cache.h - the artifacts of this machine by content, and their builds
 *
 *   HOME/artifacts/HASH   the bytes
 *   HOME/builds/KEY       the artifact of a build key, with its figures
 *   DIR/tmp               what is not finished
 *
 * A file is complete or absent: it is written under another name, fsynced, and
 * renamed.  Above the ceiling, the least recently used artifacts are removed.
 * The workers of a work folder, HOME, share it; each has a folder of its own,
 * DIR, which may be HOME.  A worker does not see what the others add until it
 * is above the ceiling, so together they may have more for a while.
 */
#ifndef FA_WORKER_STORE_CACHE_H
#define FA_WORKER_STORE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"

struct cache;

#define CACHE_BYTES (INT64_C(8) << 30) /* a full sweep's cubins and more */

struct cache_build {
    char artifact[HASH_HEX];
    int64_t bytes;
    int64_t registers, spill_bytes, static_smem; /* -1: not known */
};

/* Makes the folders (0700), and removes files in DIR/tmp that a killed worker
 * left. */
int cache_open(const char *home, const char *dir, int64_t ceiling_bytes,
               struct cache **out, struct err *err);
void cache_close(struct cache *cache);
const char *cache_home(const struct cache *cache);
const char *cache_dir(const struct cache *cache);

bool cache_has(const struct cache *cache, const char *hash);
/* The path of an artifact, which now counts as used.  False if it is not here,
 * or if its bytes are no longer those of its hash: a disk or a memory turned a
 * bit.  Then it is removed, so that it is fetched or built again. */
bool cache_path(struct cache *cache, const char *hash, char path[PATH_MAX]);
/* The folder that artifacts are in, each under its hash. */
void cache_artifacts(const struct cache *cache, char path[PATH_MAX]);
/* Read at most 'max' bytes from 'offset': returns how many, 0 at the end. */
int64_t cache_read(struct cache *cache, const char *hash, int64_t offset,
                   void *bytes, size_t max, int64_t *total, struct err *err);

/* Move a finished file in.  'from' is gone even after a failure. */
int cache_take(struct cache *cache, const char *from, bool executable,
               char hash[HASH_HEX], int64_t *bytes, struct err *err);
/* The same for a file whose hash must be 'hash': ERR_PROTO if it differs. */
int cache_put(struct cache *cache, const char *hash, const char *from,
              struct err *err);

/* The cached build of 'key' by 'toolkit', if its artifact is here.  'log' gets
 * the compiler's output of that build. */
bool cache_lookup(struct cache *cache, const char *key, const char *toolkit,
                  struct cache_build *out, struct buf *log);
int cache_remember(struct cache *cache, const char *key, const char *toolkit,
                   const struct cache_build *build, const char *log,
                   struct err *err);

#endif
