/* artifact_cache.h - what hosts compiled, kept here by content
 *
 *   FOLDER/HASH        the bytes
 *   FOLDER/put-XXXXXX  what is not finished
 *
 * An artifact that a sweep had from one host is sent to others from here, also
 * when the host that built it is gone, and in later sweeps.  It is only a copy:
 * what is lost is built again.  So nothing is fsynced, and what is read is
 * hashed first.  All coordinators of a user share the folder; above the
 * ceiling, the least recently used are removed.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_CACHE_ARTIFACT_CACHE_H
#define FA_COORDINATOR_CACHE_ARTIFACT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct artifact_cache;
struct err;

#define ARTIFACT_CACHE_BYTES (INT64_C(4) << 30)
#define ARTIFACT_CACHE_FILE_MAX (16 << 20) /* larger ones are not kept */
#define ARTIFACT_CACHE_PUT "put-"          /* begins what is not finished */

/* $XDG_CACHE_HOME/fa-coord/kept, else ~/.cache/fa-coord/kept; NULL without a
 * home folder.  The caller frees it.  The worker of this machine has its own
 * beside it. */
char *artifact_cache_folder(void);

/* Makes the folders (0700).  ERR_SYSTEM */
int artifact_cache_open(const char *folder, int64_t ceiling_bytes,
                        struct artifact_cache **out, struct err *err);
void artifact_cache_close(struct artifact_cache *cache); /* NULL is fine */

/* False also without a cache, NULL. */
bool artifact_cache_has(const struct artifact_cache *cache, const char *hash);

/* 'hash' is that of the bytes, of which there are 1 to
 * ARTIFACT_CACHE_FILE_MAX.  ERR_SYSTEM */
int artifact_cache_put(struct artifact_cache *cache, const char *hash,
                       const char *bytes, size_t len, struct err *err);

/* Its bytes, which the caller frees, and which count as used now.  NULL if it
 * is not here, or damaged: then it is removed. */
char *artifact_cache_get(struct artifact_cache *cache, const char *hash,
                         size_t *len);

#endif
