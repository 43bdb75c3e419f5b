/* instance.h - the workers of one work folder
 *
 * The hosts file says which GPUs a sweep uses.  For each such set there may be
 * one worker, which has a name: that of "all" is "", and so is that of "none".
 *
 *   of "all", "none"         of the set "0,1"
 *   DIR/control.sock         DIR/gpus-0,1.sock    control socket
 *   DIR/all.lock             DIR/gpus-0,1.lock    held by its worker
 *   DIR                      DIR/gpus-0,1         journal, worker.log, tmp
 *
 * All share DIR/artifacts and DIR/builds (cache.h).  Each holds a shared lock
 * of DIR/lock; workers of versions that knew no GPU sets lock it alone, so that
 * they never run beside others.  A set with a long text is named by its hash.
 */
#ifndef FA_WORKER_STORE_INSTANCE_H
#define FA_WORKER_STORE_INSTANCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "worker/store/workdir.h"

#define INSTANCE_ALL "all"
#define INSTANCE_SOCKET_BYTES 108 /* of a unix socket's path */

struct instance {
    char home[WORKDIR_BYTES]; /* the work folder */
    char gpus[320];           /* the set, as gpu_list_sort() writes it */
    char name[16];
    char dir[PATH_MAX]; /* its own files */
    char socket[INSTANCE_SOCKET_BYTES];
};

/* The worker of 'gpus' in the folder 'home', as workdir_open() gave it.  Makes
 * its folder.  ERR_SYSTEM. */
int instance_open(const char *home, const char *gpus, struct instance *out,
                  struct err *err);

struct instance_lock {
    int shared, own; /* descriptors, -1: none */
};

/* ERR_DEVICE: the worker runs.  INSTANCE_ALONE: one of a version that shares
 * nothing has the folder; the text names its pid in both cases. */
#define INSTANCE_ALONE 1
int instance_lock(const struct instance *instance, struct instance_lock *out,
                  struct err *err);
void instance_unlock(struct instance_lock *lock); /* may have none */
/* Has someone removed or moved the folder since it was locked? */
bool instance_is_gone(const struct instance *instance,
                      const struct instance_lock *lock);

/* How many workers run in the folder. */
size_t instance_count(const char *home);

/* Call 'seen' for that of "all", and for each that the folder has or had, in no
 * order.  Its set is not known, "". */
typedef void instance_seen(void *data, const struct instance *instance);
void instance_each(const char *home, instance_seen *seen, void *data);

#endif
