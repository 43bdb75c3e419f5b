/* gpu_share.h - the GPUs of this host that one worker has
 *
 * Several workers of a user may run in one work folder, for sweeps whose hosts
 * files name other GPUs.  A GPU is one worker's at a time: who holds the
 * lock of its index has it, from its start to its end, also between two steps
 * of a command, and while it lingers.  The locks are flock()s in DIR/gpus, so
 * the end of a process frees them, whatever ended it.  A lock's file says whose
 * it is, for people.
 *
 * gpulock.h excludes the workers of other users and folders, once a GPU has
 * told its UUID.
 * Thread rule: one thread.
 */
#ifndef FA_WORKER_GPU_GPU_SHARE_H
#define FA_WORKER_GPU_GPU_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/gpu/gpu_list.h"

struct gpu_share;

#define GPU_SHARE_TAKEN 1
#define GPU_SHARE_TEXT_BYTES 240

/* Take those of 'which' (gpu_list.h) that are free, in the work folder 'home'.
 * "all" means those of the machine, whatever the device of the sweep.  Returns
 * 0 if one at least was free or "none" is wanted.  GPU_SHARE_TAKEN: other
 * workers have them all; the text says whose, and is empty while that is not
 * known.  ERR_INPUT, ERR_SYSTEM. */
int gpu_share_open(const char *home, const char *which, struct gpu_share **out,
                   struct err *err);
void gpu_share_close(struct gpu_share *share); /* NULL is fine */

/* Say whose they are: owner_text().  If that sweep is gone, they come free when
 * this worker ends, at 'ends_ns' at the latest (clock_boot_ns()); else 0.
 * Those taken later get the same name. */
void gpu_share_name(struct gpu_share *share, const char *owner,
                    int64_t ends_ns);

/* Take those that have come free.  Returns how many. */
size_t gpu_share_take(struct gpu_share *share);

/* In the order of the hosts file. */
size_t gpu_share_held(const struct gpu_share *share, int indices[GPUS_MAX]);
size_t gpu_share_wanted(const struct gpu_share *share);
/* Whose those are that it lacks: "its GPU 0 serves another sweep: ada@laptop,
 * pid 4711, ..."; "" if it lacks none. */
void gpu_share_reason(const struct gpu_share *share,
                      char out[GPU_SHARE_TEXT_BYTES]);

#endif
