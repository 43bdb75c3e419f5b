/* device.h - the interface of a device: buffers, kernels, launches
 *
 * Three implementations, chosen when fa-runner is linked: device_cuda.c,
 * device_cpu.c (an emulation, one host thread) and device_replay.c (answers
 * from a record). A process has one device, used by one thread.
 *
 * A fallible call returns 0 or a DEVICE_* code and says why in 'err'.  After a
 * code with err->poisoned the device is lost: nothing else may be called, the
 * process must be replaced.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_H

#include <stdbool.h>

#include "worker/runner/device/check.h"
#include "worker/runner/device/poison.h"
#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill.h"

struct device;
struct device_buffer;

enum {
    DEVICE_REFUSED = -1, /* the launch is impossible: smem, threads, regs */
    DEVICE_FAULT = -2,   /* the kernel broke a rule: address, trap, barrier */
    DEVICE_TIMEOUT = -3, /* it was still running at the deadline */
    DEVICE_BROKEN = -4,  /* not the kernel's fault: memory, file, driver */
    DEVICE_WRONG = -5,   /* its result is known to be wrong (replay) */
};

struct device_err {
    char text[1000]; /* one line */
    bool poisoned;
};

/* Facts are text, as on the pipe.  A device leaves out facts that it does not
 * know.  Names: arch sm_count smem_per_block smem_per_sm regs_per_block
 * regs_per_sm threads_per_sm blocks_per_sm max_threads_per_block l2_bytes
 * mem_bytes dram_bytes_per_s sm_clock_hz mma_flops_per_clock_sm (numbers),
 * device gpu_name uuid driver cuda_driver_version (text without line
 * breaks). */
struct device_fact {
    char name[32];
    char value[128];
};

#define DEVICE_FACTS_MAX 32

extern const char device_name[]; /* "cuda", "cpu" or "replay" */

/* 'gpu' is an index or a "GPU-..." UUID; the others take any. */
int device_open(const char *gpu, struct device **out, struct device_err *err);
void device_close(struct device *device); /* NULL is fine */
size_t device_facts(const struct device *device,
                    struct device_fact facts[DEVICE_FACTS_MAX]);

/* How much of its memory may stay allocated between two requests. */
size_t device_room_bytes(const struct device *device);
/* Size of the caches that may hold data of an earlier launch; 0 if there are
 * none. */
size_t device_cache_bytes(const struct device *device);

/* Is each launch alone, so that it can keep nothing for a later one? */
bool device_isolates(const struct device *device);

/* A buffer of 'count' elements (>= 1) between two guard zones; contents and
 * guards are poisoned (ELEMENT_POISON).  'name' (borrowed for the call) is
 * what a fault report calls it. */
int device_alloc(struct device *device, const char *name,
                 enum element_type type, int64_t count,
                 struct device_buffer **out, struct device_err *err);
void device_free(struct device *device, struct device_buffer *buffer);

/* The argument of a launch: args[i] points to this value. */
void *device_address(const struct device_buffer *buffer);

enum device_access {
    DEVICE_WRITE,  /* kernels may read and write it, as after device_alloc() */
    DEVICE_READ,   /* they may only read it */
    DEVICE_HIDDEN, /* they may not even read it */
};

/* A device that can enforce it reports a forbidden access as a fault; for
 * others the caller compares checksums. */
int device_guard(struct device *device, struct device_buffer *buffer,
                 enum device_access access, struct device_err *err);
/* Fill with fill_value(fill, key, i); only a buffer with DEVICE_WRITE. */
int device_fill(struct device *device, struct device_buffer *buffer,
                const struct fill *fill, uint64_t key, struct device_err *err);
/* Fill with 'bytes', as many as it has; only a buffer with DEVICE_WRITE. */
int device_write(struct device *device, struct device_buffer *buffer,
                 const void *bytes, struct device_err *err);
/* The contents of 'from', a buffer of the same count, converted as
 * element_store() does. */
int device_copy(struct device *device, struct device_buffer *to,
                const struct device_buffer *from, struct device_err *err);
int device_poison(struct device *device, struct device_buffer *buffer,
                  const struct poison *poison, struct device_err *err);

/* A look at a buffer, and what it shows. */
struct device_scan {
    const struct device_buffer *buffer;
    bool sums;       /* is a hash of the contents wanted? */
    uint64_t sum;    /* this hash */
    int64_t overrun; /* 0: both guards are intact; or the distance in bytes of
                      * the first damage: < 0 before, > 0 after the contents */
};

int device_scan(struct device *device, struct device_scan *scans, size_t n,
                struct device_err *err);

/* Compare 'out' with 'ref' (ELEMENT_FP64, same count).  Of one reference 'how'
 * is always the same, but for its tolerance.  'sum' is device_scan()'s of
 * 'out'; NULL: it is not wanted. */
int device_check(struct device *device, const struct device_buffer *out,
                 struct device_buffer *ref, const struct check_how *how,
                 struct check *check, uint64_t *sum, struct device_err *err);

#endif
