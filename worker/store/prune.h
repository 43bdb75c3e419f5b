/* prune.h - what a work folder has that no worker needs any more
 *
 *   HOME/artifacts/HASH, HOME/builds/KEY   not used for long (cache.h)
 *   HOME/bundles/HASH                      likewise (bundles.h)
 *   HOME/asked/HASH                        of workers that were killed
 *   DIR/journal                            without a result that is to be sent
 *   DIR/worker.log, DIR/worker.log.old
 *   DIR/tmp/...                            what killed workers left
 *   HOME/gpus-NAME                         a worker's folder, of which nothing
 *                                          is left then (instance.h)
 *   HOME/fa-worker-HASH                    an uploaded program
 *
 * Nothing else is looked at.  HOME/lock is held alone meanwhile, so no worker
 * runs, and one that starts waits.
 */
#ifndef FA_WORKER_STORE_PRUNE_H
#define FA_WORKER_STORE_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct prune_item {
    const char *kind; /* artifact, build, bundle, journal, log, temporary,
                       * program */
    const char *path; /* below the work folder */
    int64_t bytes;
    int64_t age_s;    /* since it was last used */
    const char *kept; /* why it stays; NULL: it is removed */
};

struct prune_ask {
    int64_t now_s;       /* of time(2) */
    int64_t older_s;     /* what was used since then stays, unseen */
    bool dry_run;        /* remove nothing */
    const char *program; /* the name of one that stays; or NULL */
};

/* 'seen' is called for each file or folder that is old enough; its item is
 * valid during the call.  Returns 0, ERR_DEVICE if a worker runs in the folder
 * (then nothing was done; the text names its pid), or ERR_SYSTEM. */
typedef void prune_seen(void *data, const struct prune_item *item);
int prune_run(const char *home, const struct prune_ask *ask, prune_seen *seen,
              void *data, struct err *err);

#endif
