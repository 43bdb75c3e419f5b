/* tasks_cuda.h - what the kernels before and after a timed launch have to do
 *
 * All addresses are device memory, which the device owns.
 */
#ifndef FA_WORKER_RUNNER_CUDA_TASKS_CUDA_H
#define FA_WORKER_RUNNER_CUDA_TASKS_CUDA_H

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/wire/element_type.h"

/* Bytes to write: those at 'from', or if that is NULL random ones of 'key', or
 * if that is 0 repetitions of 'word'. */
struct write_task {
    void *to;
    const void *from;
    uint64_t bytes, word, key;
};

enum {
    WRITE_TASKS = 8 /* of one kernel: the time to queue it grows with them */
};

struct write_tasks {
    struct write_task task[WRITE_TASKS];
    unsigned n;
    unsigned unwritten; /* what to write over all shared memory */
};

/* A buffer to be summed up, with the guards around it, each byte of which is to
 * be 'beside'.  The buffer is aligned to 8, and the guard behind it ends at a
 * multiple of 8. */
struct scan_task {
    const unsigned char *payload;
    int64_t bytes, before, after; /* of the buffer and the two guards */
    unsigned char beside;
    bool sums; /* is a hash of the payload wanted? */
};

enum {
    SCAN_TASKS = 32
};

struct scan_tasks {
    struct scan_task task[SCAN_TASKS];
    unsigned n;
};

/* A buffer to look at, and what to compare it with; all is device memory. */
struct look_task {
    const void *out;
    uint64_t bytes; /* a multiple of 'count' */
    int64_t count;
    const double *ref; /* sealed with 'key', if that is not 0 */
    uint64_t key;
    const struct check_norm *norm;
    uint64_t known;           /* a sum that needs no comparison, or 0 */
    struct device_seen *seen; /* all 0 before */
    struct check_how how;
    enum element_type type;
};

enum {
    LOOK_TASKS = 4 /* likewise */
};

struct look_tasks {
    struct look_task task[LOOK_TASKS];
    unsigned n;
};

#endif
