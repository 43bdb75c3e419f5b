/* bundles.h - the source bundles of this machine by content
 *
 *   HOME/bundles/HASH   a BUNDLE as it came
 *
 * The workers of a work folder, HOME, share them, and so do sweeps: a bundle
 * travels once.  A file is whole or absent when it is written, and hashed again
 * when it is read: one that is not as it was is removed, and counts as absent.
 * Above BUNDLES_MAX the least recently used ones go.
 */
#ifndef FA_WORKER_STORE_BUNDLES_H
#define FA_WORKER_STORE_BUNDLES_H

#include <stdbool.h>

struct cache;
struct msg;

#define BUNDLES_MAX 64 /* of at most 2 MiB each */

/* Keep a BUNDLE whose hash was checked.  False if the disk refuses: then it is
 * asked for again. */
bool bundles_keep(const struct cache *cache, const struct msg *bundle);

/* True and 'out' (call msg_fini()) if it is here; it now counts as used. */
bool bundles_load(const struct cache *cache, const char *hash, struct msg *out);

#endif
