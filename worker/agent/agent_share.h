/* agent_share.h - the part of the host that a worker has, beside others */
#ifndef FA_WORKER_AGENT_AGENT_SHARE_H
#define FA_WORKER_AGENT_AGENT_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/gpu/gpu_share.h"

struct agent;

struct agent_share {
    struct gpu_share *gpus;     /* NULL: WELCOME named some that others have */
    char which[GPU_LIST_BYTES]; /* as sorted */
    size_t announced;           /* GPUs, in the last READY */
    bool gone;                  /* others are told that its sweep is gone */
};

/* Take the GPUs of a list as in WELCOME, unless it has them.  0, or
 * GPU_SHARE_TAKEN with a text that says whose they are, or ERR_*. */
int agent_share_open(struct agent *agent, const char *which, struct err *err);
void agent_share_close(struct agent *agent);
/* Tell others whose its GPUs are.  'ends_ns' as in gpu_share_name(). */
void agent_share_name(struct agent *agent, int64_t ends_ns);
/* Now and then: take GPUs that have come free, and tell the coordinator; build
 * with this worker's part of the cores. */
void agent_share_step(struct agent *agent, int64_t now_ns);

#endif
