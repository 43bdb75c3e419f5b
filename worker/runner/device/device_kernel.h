/* device_kernel.h - kernels of a device: loaded, launched, timed (device.h) */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_KERNEL_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/runner/device/device.h"

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

struct device_launch {
    struct device_kernel *kernel;
    unsigned grid[3], block[3];
    size_t smem; /* dynamic shared memory, bytes */
    void **args; /* [n_args], as for cuLaunchKernel */
    size_t n_args;
};

/* The clock of time limits, in seconds: that of the wall, or, where launches
 * share the processor with all else (cpu), what they have used of it. */
double device_clock_s(const struct device *device);

/* Launch once and wait until it has ended or 'timeout_s' has passed. */
int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err);

/* What a buffer that the kernel writes holds before a launch. */
struct device_start {
    struct device_buffer *buffer;     /* NULL: no such buffer */
    const struct device_buffer *from; /* its contents; NULL: poison */
};

/* Poison the guards and the contents, and copy the contents if there are any */
int device_start(struct device *device, const struct device_start *start,
                 struct device_err *err);

enum {
    DEVICE_BATCH = 50 /* launches timed in one call, at most */
};

/* What is timed besides the launch itself. */
struct device_batch {
    size_t n; /* launches, 1 to DEVICE_BATCH */
    /* [n], the 'args' of each; NULL: those of the launch */
    void **const *args;
    const struct device_start *starts; /* [n_args] */
    bool flush;                        /* the L2 cache, before each */
    double timeout_s;                  /* for all of them */
};

struct device_times {
    double seconds[DEVICE_BATCH];
    struct device_state during; /* readings while they ran */
    bool blocked;               /* all were queued before the first one began */
};

/* Launch n times, and time each launch between two events, with what it
 * writes made ready before it.  If the device can, the first one waits until
 * all are queued, so that delays of the host are not in their times. */
int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err);

#endif
