/* gpu_spares.h - fa-runner processes that have the GPU open and do nothing
 *
 * Each block of a confirmation begins in a process of its own.  To open a GPU
 * takes 0.2 s, and two that open at once wait for each other in the driver.  So
 * some are opened ahead, one at a time, while the GPU has nothing to do.  To
 * end one takes 0.06 s, so those of earlier blocks stay until then, too.  None
 * opens or ends beside a measurement.
 */
#ifndef FA_WORKER_GPU_GPU_SPARES_H
#define FA_WORKER_GPU_GPU_SPARES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_spares;
struct runner_session;

enum {
    GPU_SPARES_MAX = 8
};

/* At most 'most' of them, GPU_SPARES_MAX or fewer. */
struct gpu_spares *gpu_spares_new(size_t most);
void gpu_spares_free(struct gpu_spares *spares); /* kills; NULL is fine */

/* True if one waits to be ended, or if another may be opened.  False while one
 * opens or ends.  After one could not be opened, no other is: memory is short,
 * or the GPU is for one process only. */
bool gpu_spares_wants(const struct gpu_spares *spares);
/* One opens or ends now. */
bool gpu_spares_busy(const struct gpu_spares *spares);
/* 'session' was asked to open the GPU; it is the spares' own from now on. */
void gpu_spares_add(struct gpu_spares *spares, struct runner_session *session);
/* 'session' has measured what it is for, likewise.  At most as many as were
 * taken. */
void gpu_spares_keep(struct gpu_spares *spares, struct runner_session *session);
/* Kill those that are kept; false: there are none. */
bool gpu_spares_end_kept(struct gpu_spares *spares, int64_t now_ns);
/* One that is open, now the caller's; NULL: none. */
struct runner_session *gpu_spares_take(struct gpu_spares *spares,
                                       int64_t now_ns);
/* Kill all, and open no other from now on.  False: there was none. */
bool gpu_spares_drop(struct gpu_spares *spares, int64_t now_ns);

size_t gpu_spares_poll(const struct gpu_spares *spares, struct pollfd *fds,
                       size_t max);
int64_t gpu_spares_deadline_ns(const struct gpu_spares *spares);
/* False: KILL does not end one of them. */
bool gpu_spares_step(struct gpu_spares *spares, int64_t now_ns);

#endif
