/* kernels_cuda.h - the runner's own kernels, but for that of a gate
 *
 * All are asynchronous on 'stream' and write results to device memory.  Sums
 * are computed in a fixed order, so the same buffers give the same bits.
 *
 * A timed launch has one kernel before it, which writes all that it may find,
 * and one after it (two, after large outputs), which looks at all that it has
 * written: each kernel more costs every sample some 10 us.
 */
#ifndef FA_WORKER_RUNNER_CUDA_KERNELS_CUDA_H
#define FA_WORKER_RUNNER_CUDA_KERNELS_CUDA_H

#include <cuda_runtime_api.h>

#include "worker/runner/cuda/tasks_cuda.h"
#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Damage is the distance of the nearest guard byte that has changed from the
 * payload: 1 is next to it.  It is kept as SCAN_NO_DAMAGE minus the distance,
 * so 0 means none. */
struct scan {
    unsigned long long before, after; /* damage */
    unsigned long long sum;           /* a hash of the payload, or 0 */
};

#define SCAN_NO_DAMAGE UINT64_MAX

enum {
    CHECK_BLOCKS = 1024
};

/* An element: check_rank(), the rule that it breaks most, and its error by this
 * rule.  at < 0: none. */
struct look_worst {
    double rank;
    long long at;
    double error;
    int rule;
};

/* Of some elements: the sum of squares, the largest relative error, and the
 * worst of them. */
struct look_part {
    double sum, relative;
    struct look_worst worst;
};

/* The parts of the blocks of one kernel; the next one of the stream, or its
 * last block, reduces them. */
struct check_scratch {
    struct look_part part[CHECK_BLOCKS];
    unsigned arrived; /* blocks; 0 between kernels */
};

/* How the kernels fill the GPU; kernel_limits() finds out. */
struct kernel_limits {
    unsigned multiprocessors;
    unsigned smem;         /* a block, at most */
    unsigned look_blocks;  /* at the same time on the GPU */
    unsigned local_blocks; /* likewise, of kernel_write_local() */
};

cudaError_t kernel_limits(int gpu, struct kernel_limits *out);

/* How many blocks of kernel_look() a multiprocessor has at the same time. */
cudaError_t kernel_look_blocks(int *out);

cudaError_t kernel_fill(void *base, enum element_type type, int64_t count,
                        const struct fill *fill, uint64_t key,
                        cudaStream_t stream);

/* Each element of 'from', converted to the type of 'to'. */
cudaError_t kernel_convert(void *to, enum element_type to_type,
                           const void *from, enum element_type from_type,
                           int64_t count, cudaStream_t stream);

/* out[k] is of task k. */
cudaError_t kernel_scan(const struct scan_tasks *tasks,
                        struct scan out[SCAN_TASKS], cudaStream_t stream);

/* Carry out the tasks, and overwrite the shared memory of all
 * multiprocessors. */
cudaError_t kernel_write(const struct kernel_limits *limits,
                         const struct write_tasks *tasks, cudaStream_t stream);

/* A thread's local memory that kernel_write_local() overwrites.  It is the
 * default of cudaLimitStackSize: also a kernel without a frame of its own has
 * that much, for alloca(). */
#define KERNELS_LOCAL_BYTES 1024

/* Overwrite the local memory of all threads that can be on the GPU at the same
 * time. */
cudaError_t kernel_write_local(const struct kernel_limits *limits,
                               unsigned word, cudaStream_t stream);

/* Of each task, seen->sum as scan->sum; if that is not known, seen->check and
 * seen->compared.  It is fast where all tasks have a known sum and hold it, and
 * slowest where one does not hold it. */
cudaError_t kernel_look(const struct kernel_limits *limits,
                        const struct look_tasks *tasks,
                        struct check_scratch *scratch, cudaStream_t stream);

/* Make an array unreadable for whoever does not know the key, or readable
 * again. */
cudaError_t kernel_seal(double *ref, int64_t count, uint64_t key,
                        cudaStream_t stream);
cudaError_t kernel_norm(const double *ref, int64_t count, uint64_t key,
                        const struct check_how *how, struct check_norm *norm,
                        struct check_scratch *scratch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
