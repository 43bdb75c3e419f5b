/* device_cuda.h - the parts of the cuda device, shared by device_cuda.c
 * (memory, checks), module_cuda.c (modules) and launch_cuda.c (launches, times)
 */
#ifndef FA_WORKER_RUNNER_CUDA_DEVICE_CUDA_H
#define FA_WORKER_RUNNER_CUDA_DEVICE_CUDA_H

#include <cuda_runtime_api.h>

#include "worker/runner/cuda/driver_cuda.h"
#include "worker/runner/cuda/gate_cuda.h"
#include "worker/runner/cuda/kernels_cuda.h"
#include "worker/runner/device/device_kernel.h"
#include "worker/runner/device/gpu_state.h"

struct device {
    struct driver_cuda driver;
    struct gpu_state *gpu_state; /* NULL without NVML */
    int number;                  /* as CUDA counts them in this process */
    char uuid[64];
    cudaStream_t stream;
    cudaEvent_t done;
    cudaEvent_t begin[DEVICE_BATCH], end[DEVICE_BATCH];
    struct gate_cuda gate;
    void *flush; /* twice the L2 cache */
    size_t flush_bytes;
    size_t l2_bytes;
    size_t room_bytes;
    struct kernel_limits limits;
    bool local_is_unknown;     /* module_reads_local() does not know its code */
    uint64_t secret;           /* nothing on the GPU knows it */
    uint64_t draws;            /* of numbers, so far */
    uint64_t turn;             /* of unwritten.h; no kernel knows the first */
    struct device_memory *own; /* device memory */
};

/* What the runner's own kernels write. */
struct device_memory {
    struct scan scans[SCAN_TASKS];
    struct check_scratch scratch;
    struct device_seen seen[DEVICE_BATCH * WIRE_ARGS_MAX];
};

struct device_buffer {
    unsigned char *base; /* guard, payload, guard */
    enum element_type type;
    int64_t count;
    size_t bytes;            /* of the payload */
    size_t after;            /* of the guard behind it */
    unsigned char beside;    /* each byte of the guards */
    struct check_norm *norm; /* as a reference; NULL until device_check() */
    uint64_t key;            /* that it is sealed with, or 0 */
};

/* Convert a failed call of cudart to a DEVICE_* code.  Sets err->poisoned for
 * errors that stay with the context. */
int device_cuda_error(const char *what, cudaError_t rc, struct device_err *err);

/* Wait for all queued work; DEVICE_TIMEOUT poisons. */
int device_cuda_wait(struct device *device, double timeout_s,
                     struct device_err *err);

double device_cuda_now_s(void);

/* Fill the guards of a buffer with this byte. */
cudaError_t device_cuda_surround(struct device *device,
                                 struct device_buffer *buffer,
                                 unsigned char byte);

/* The task of kernel_look() that compares 'out' with 'ref', which has its norm.
 */
struct look_task device_cuda_look(const struct device_buffer *out,
                                  const struct device_buffer *ref,
                                  const struct check_how *how, uint64_t known,
                                  struct device_seen *seen);
/* The task of kernel_write() that poisons a buffer. */
struct write_task device_cuda_poison(const struct device_buffer *buffer,
                                     const struct poison *poison);

#endif
