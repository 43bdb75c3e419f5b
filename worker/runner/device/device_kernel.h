/* device_kernel.h - kernels of a device: loaded, launched, timed (device.h) */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_KERNEL_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/runner/device/device.h"
#include "worker/runner/wire/wire.h"

struct device_kernel;

struct device_attributes { /* -1: not known */
    int regs;              /* a thread */
    int local_bytes;       /* a thread; spills */
    int static_smem;       /* bytes a block */
    int max_threads;       /* a block, for this kernel */
};

/* Load 'entry' of the artifact at 'path' (cuda: a cubin; cpu: a shared object).
 * DEVICE_REFUSED if this device cannot load it. */
int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err);
void device_unload(struct device *device, struct device_kernel *kernel);
void device_kernel_attributes(const struct device_kernel *kernel,
                              struct device_attributes *out);

/* May it have memory that is not put back between two launches, and so find
 * there what it has computed before? */
bool device_keeps(const struct device_kernel *kernel);

struct device_launch {
    struct device_kernel *kernel;
    unsigned grid[3], block[3];
    size_t smem; /* dynamic shared memory, bytes */
    void **args; /* [n_args], as for cuLaunchKernel; at most 8 bytes each */
    /* [n_args]; whose address an argument is, NULL: a scalar's.  For
     * device_run(); NULL: what lies beside them stays as it is. */
    struct device_buffer *const *buffers;
    size_t n_args;
};

/* The clock of time limits, in seconds: that of the wall, or, where launches
 * share the processor with all else (cpu), what they have used of it. */
double device_clock_s(const struct device *device);

/* Load it again: nothing that earlier launches have left in it is there. */
int device_reload(struct device *device, struct device_kernel *kernel,
                  struct device_err *err);

/* Launch once, as the first launch of a kernel just loaded, and wait until it
 * has ended or 'timeout_s' has passed.  What lies in its shared memory, and
 * beside its buffers, is not what the launch before found (unwritten.h). */
int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err);

/* What is written to flush an L2 cache of this size. */
#define DEVICE_FLUSH_BYTES(l2) (2 * (size_t)(l2) + 1)

struct device_state {
    double clock_mhz, temp_c, power_w; /* NaN when unknown */
    uint64_t throttle;                 /* NVML's bits; 0 when unknown */
};

void device_state(struct device *device, struct device_state *out);

enum {
    DEVICE_BATCH = 50 /* launches timed in one call, at most */
};

/* One launch of a batch. */
struct device_turn {
    void **args; /* [n_args], as of a launch */
    /* [n_args]; what to copy into batch->written before it, NULL: poison */
    struct device_buffer *const *starts;
    struct poison poison;
    bool kept; /* what is not compared stays as the launch before left it */
    /* [n_args]; what to compare batch->written with, DEVICE_HIDDEN; NULL:
     * nothing */
    struct device_buffer *const *references;
    const uint64_t *sums; /* [n_args]; device_scan() of one that passed */
    bool led; /* by the same launch, not timed, for what it leaves in caches */
};

/* A buffer after a launch that had a reference for it. */
struct device_seen {
    uint64_t sum;       /* as device_scan() */
    bool compared;      /* it was not that of the turn */
    struct check check; /* if compared */
};

struct device_batch {
    size_t n;                             /* launches, 1 to DEVICE_BATCH */
    const struct device_turn *turns;      /* [n] */
    struct device_buffer *const *written; /* [n_args], NULL: none */
    const struct check_how *hows;         /* [n_args], with references */
    bool flush;                           /* the L2 cache, before each */
    double timeout_s;                     /* for all of them */
};

struct device_times {
    double seconds[DEVICE_BATCH];
    struct device_state during; /* readings while they ran */
    bool blocked;               /* each was queued before it could begin */
    struct device_seen seen[DEVICE_BATCH * WIRE_ARGS_MAX]; /* [n][n_args] */
};

/* Launch n times, each as the first launch of a kernel just loaded, with its
 * buffers written as its turn says, and time it between two events; then look
 * at what it has written.  If the device can, each one waits until it and all
 * that belongs to it are queued, so that delays of the host are not in its
 * time. */
int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err);

#endif
