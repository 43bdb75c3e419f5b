/* gate_cuda.h - holds a stream back until the host has queued a batch on it
 *
 *   gate_close(); queue; gate_next(); queue; ...; gate_open(); wait for the
 *   stream; gate_held()
 *
 * What lies between two gates runs while the host queues what is behind the
 * second one.
 *
 * A kernel of one thread polls a number in host memory.  It ends after GATE_NS
 * at the latest.  So if the host dies, or a call waits for the device while the
 * gate is closed, the delay is at most that long.
 */
#ifndef FA_WORKER_RUNNER_CUDA_GATE_CUDA_H
#define FA_WORKER_RUNNER_CUDA_GATE_CUDA_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queuing what lies between two gates takes less than a millisecond, but a
 * compiler may have the core for some more. */
#define GATE_NS 100000000ull

/* In host memory that the device sees.  The numbers may wrap around. */
struct gate {
    unsigned open;    /* the newest wait that may end */
    unsigned expired; /* the newest wait that ended by itself */
};

/* In kernels_cuda.cu: work queued behind it begins when 'gate->open' reaches
 * 'number', or after 'limit_ns' on the device's own clock. */
cudaError_t kernel_wait(struct gate *gate, unsigned number,
                        unsigned long long limit_ns, cudaStream_t stream);

struct gate_cuda {
    struct gate *host;   /* NULL: the device cannot do this, and every call does
                          * nothing */
    struct gate *device; /* the same memory */
    unsigned number;     /* of the last gate that was closed */
};

/* Cannot fail: a device that does not map host memory works without a gate. */
void gate_init(struct gate_cuda *gate);

cudaError_t gate_close(struct gate_cuda *gate, cudaStream_t stream);
/* Close one more, and open the one before it. */
cudaError_t gate_next(struct gate_cuda *gate, cudaStream_t stream);
void gate_open(struct gate_cuda *gate);
/* Call it when the stream is done: was each of the last n gates held until it
 * was opened? */
bool gate_held(const struct gate_cuda *gate, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
