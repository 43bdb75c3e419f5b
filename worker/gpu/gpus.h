/* gpus.h - the GPUs of this box that a worker was told to use
 *
 * 'which' is "all", "none" or a list of indices "0,1".  The cpu and replay
 * devices have one, and more when they are listed.  With "all" a GPU that
 * cannot be opened is left out if another can; a listed one that cannot is an
 * error.  Poll-driven (child.h).
 */
#ifndef FA_WORKER_GPU_GPUS_H
#define FA_WORKER_GPU_GPUS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/gpu/gpu.h"

struct gpus;

enum {
    GPUS_MAX = 64
};

/* 'spec' without its 'gpu'.  ERR_INPUT when 'which' is not a list, ERR_DEVICE
 * when the box shows no NVIDIA device. */
int gpus_open(const struct gpu_spec *spec, const char *which, int64_t now_ns,
              struct gpus **out, struct err *err);
void gpus_close(struct gpus *gpus); /* NULL is fine */

size_t gpus_poll(const struct gpus *gpus, struct pollfd *fds, size_t max);
int64_t gpus_deadline_ns(const struct gpus *gpus);
/* 1 when all have answered, 0 not yet, ERR_DEVICE when they are of no use
 * (then close).  To be called on after 1 as well: it steps every GPU. */
int gpus_step(struct gpus *gpus, int64_t now_ns, struct err *err);
/* After ERR_DEVICE: because another worker holds one. */
bool gpus_are_taken(const struct gpus *gpus);

size_t gpus_count(const struct gpus *gpus); /* once 1: those opened */
struct gpu *gpus_at(struct gpus *gpus, size_t i);
struct gpu *gpus_find(struct gpus *gpus, const char *uuid); /* NULL: none */

#endif
