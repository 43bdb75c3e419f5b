/* kernels_cuda.h - the runner's own kernels: fill, poison, scan, check,
 * scrub, wait
 *
 * All are asynchronous on 'stream' and write results to device memory.  Sums
 * are computed in a fixed order, so the same buffers give the same bits.
 */
#ifndef FA_WORKER_RUNNER_CUDA_KERNELS_CUDA_H
#define FA_WORKER_RUNNER_CUDA_KERNELS_CUDA_H

#include <cuda_runtime_api.h>

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Damage is the distance of the nearest guard byte that is not poison from
 * the payload: 1 is next to it, UINT64_MAX means none. */
struct scan {
    unsigned long long before, after; /* damage */
    unsigned long long sum;           /* a hash of the payload */
};

enum {
    CHECK_BLOCKS = 1024
};

/* Of the blocks of one kernel; the next one of the stream reduces it. */
struct check_scratch {
    double sum[CHECK_BLOCKS];
    double rank[CHECK_BLOCKS];
    double relative[CHECK_BLOCKS];
    long long at[CHECK_BLOCKS];
};

/* Of a reference. */
struct check_norm {
    double square_sum, rms;
};

/* An output and what it is compared with; all is device memory. */
struct check_of {
    const void *out;
    enum element_type type;
    const double *ref;
    int64_t count;
    const struct check_norm *norm;
    struct check_how how;
};

cudaError_t kernel_fill(void *base, enum element_type type, int64_t count,
                        const struct fill *fill, uint64_t key,
                        cudaStream_t stream);

/* Each element of 'from', converted to the type of 'to'. */
cudaError_t kernel_convert(void *to, enum element_type to_type,
                           const void *from, enum element_type from_type,
                           int64_t count, cudaStream_t stream);

/* 'payload' is 'bytes' long, aligned to 8, and has a guard of 'guard' bytes
 * (a multiple of 8) at both ends. */
cudaError_t kernel_scan(const void *payload, size_t bytes, size_t guard,
                        struct scan *out, cudaStream_t stream);

/* Write 'poison' over 'bytes', a buffer of 'type' aligned to 8. */
cudaError_t kernel_poison(void *base, size_t bytes, enum element_type type,
                          const struct poison *poison, cudaStream_t stream);

/* seen->sum, as scan->sum; the rest of 'seen' must be 0. */
cudaError_t kernel_sum(const void *payload, size_t bytes,
                       struct device_seen *seen, cudaStream_t stream);

cudaError_t kernel_norm(const double *ref, int64_t count, bool infinities,
                        struct check_norm *norm, struct check_scratch *scratch,
                        cudaStream_t stream);

/* seen->check, unless seen->sum is 'known', which is not 0. */
cudaError_t kernel_check(const struct check_of *of, uint64_t known,
                         struct device_seen *seen,
                         struct check_scratch *scratch, cudaStream_t stream);

/* Write 'key' over the shared memory of all multiprocessors, 'bytes' each. */
cudaError_t kernel_scrub_allow(size_t bytes);
cudaError_t kernel_scrub(unsigned multiprocessors, size_t bytes, unsigned key,
                         cudaStream_t stream);

/* In host memory that the device sees.  The numbers may wrap around. */
struct gate {
    unsigned open;    /* the newest wait that may end */
    unsigned expired; /* the newest wait that ended by itself */
};

/* Work queued behind it begins when 'gate->open' reaches 'number', or after
 * 'limit_ns' on the device's own clock. */
cudaError_t kernel_wait(struct gate *gate, unsigned number,
                        unsigned long long limit_ns, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
