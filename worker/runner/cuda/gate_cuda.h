/* gate_cuda.h - holds a stream back until the host has queued a batch on it
 *
 *   gate_close(); queue; ...; gate_open(); wait for the stream; gate_held()
 *
 * A kernel of one thread polls a number in host memory.  It ends after GATE_NS
 * at the latest.  So if the host dies, or a call waits for the device while the
 * gate is closed, the delay is at most that long.
 */
#ifndef FA_WORKER_RUNNER_CUDA_GATE_CUDA_H
#define FA_WORKER_RUNNER_CUDA_GATE_CUDA_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "worker/runner/cuda/kernels_cuda.h"

/* Queuing a batch takes less than a millisecond, but a compiler may have the
 * core for some more. */
#define GATE_NS 100000000ull

struct gate_cuda {
    struct gate *host;   /* NULL: the device cannot do this, and every call does
                          * nothing */
    struct gate *device; /* the same memory */
    unsigned number;     /* of the last gate that was closed */
};

/* Cannot fail: a device that does not map host memory works without a gate. */
void gate_init(struct gate_cuda *gate);

cudaError_t gate_close(struct gate_cuda *gate, cudaStream_t stream);
void gate_open(struct gate_cuda *gate);
/* Call it when the stream is done: was the last gate held until gate_open()? */
bool gate_held(const struct gate_cuda *gate);

#endif
