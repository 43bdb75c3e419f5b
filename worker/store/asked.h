/* asked.h - which files a worker of this work folder has asked for
 *
 *   HOME/asked/HASH   the folder of the worker that asked (DIR); its time is
 *                     that of the newest question or chunk
 *
 * Workers of one folder share what arrives, so one of them asks and the others
 * wait.  One that was silent for ASKED_S was killed, or its coordinator has
 * gone: then the next one asks.
 */
#ifndef FA_WORKER_STORE_ASKED_H
#define FA_WORKER_STORE_ASKED_H

#include <stdbool.h>

struct cache;

#define ASKED_S 10

/* True if the caller is to ask, which then counts as asked. */
bool asked_take(const struct cache *cache, const char *hash);
/* More of it has arrived; all of it, or it will not come. */
void asked_touch(const struct cache *cache, const char *hash);
void asked_end(const struct cache *cache, const char *hash);

#endif
