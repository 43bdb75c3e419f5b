/* prune_cache.h - artifacts that the coordinator kept and no sweep used since
 *
 * Without them, hosts compile again.
 */
#ifndef FA_COORDINATOR_PRUNE_PRUNE_CACHE_H
#define FA_COORDINATOR_PRUNE_PRUNE_CACHE_H

#include <stdint.h>

struct prune_list;

/* Of the folder of artifact_cache.h, which need not exist.  'now_s' is of
 * time(2).  Adds to 'list'. */
void prune_cache(const char *folder, int64_t now_s, struct prune_list *list);

#endif
