/* gpus.h - the GPUs of this machine that a worker may use
 *
 * 'which' is "all", "none" or a list of indices "0,1" (gpu_list.h).  The cpu
 * and replay devices have one, and more when they are listed.  With "all" a GPU
 * that cannot be opened is left out if another can; a listed one that cannot is
 * an error.  Of these, a worker opens only those of its share (gpu_share.h),
 * and more when they come free.  Poll-driven (child.h).
 */
#ifndef FA_WORKER_GPU_GPUS_H
#define FA_WORKER_GPU_GPUS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/gpu/gpu.h"
#include "worker/gpu/gpu_list.h"

struct gpu_share;
struct gpus;

/* 'spec' without its 'gpu'; what it points to outlives the GPUs.  'share' NULL:
 * nothing is shared.  ERR_INPUT if 'which' is malformed, ERR_DEVICE if the
 * machine has no NVIDIA device. */
int gpus_open(const struct gpu_spec *spec, const char *which,
              const struct gpu_share *share, int64_t now_ns, struct gpus **out,
              struct err *err);
/* As gpu_use(), of all.  'runner' outlives the GPUs. */
void gpus_use(struct gpus *gpus, const char *runner, int64_t now_ns);
/* 'share' has got more.  They count, behind the others, when they are open; one
 * that cannot be opened is left out. */
void gpus_grow(struct gpus *gpus, const struct gpu_share *share,
               int64_t now_ns);
void gpus_close(struct gpus *gpus); /* NULL is fine */

size_t gpus_poll(const struct gpus *gpus, struct pollfd *fds, size_t max);
int64_t gpus_deadline_ns(const struct gpus *gpus);
/* 1 if all have answered, 0 if not yet, ERR_DEVICE if they cannot be used (then
 * close). Keep calling it after 1: it steps every GPU. */
int gpus_step(struct gpus *gpus, int64_t now_ns, struct err *err);
/* After ERR_DEVICE: was the reason that another worker holds one? */
bool gpus_are_taken(const struct gpus *gpus);

size_t gpus_count(const struct gpus *gpus);   /* after 1: those that are open */
bool gpus_lack_some(const struct gpus *gpus); /* of those that are wanted */
struct gpu *gpus_at(struct gpus *gpus, size_t i);
struct gpu *gpus_find(struct gpus *gpus, const char *uuid); /* NULL: none */

#endif
