#include "worker/runner/cuda/gate_cuda.h"

#include <string.h>

void gate_init(struct gate_cuda *gate)
{
    int gpu, maps = 0;
    void *host = NULL, *device = NULL;

    memset(gate, 0, sizeof(*gate));
    if (cudaGetDevice(&gpu) != cudaSuccess ||
        cudaDeviceGetAttribute(&maps, cudaDevAttrCanMapHostMemory, gpu) !=
            cudaSuccess ||
        !maps ||
        cudaHostAlloc(&host, sizeof(*gate->host), cudaHostAllocMapped) !=
            cudaSuccess ||
        cudaHostGetDevicePointer(&device, host, 0) != cudaSuccess) {
        (void)cudaGetLastError(); /* none of these errors is sticky */
        return;
    }
    memset(host, 0, sizeof(*gate->host));
    gate->host = host;
    gate->device = device;
}

cudaError_t gate_close(struct gate_cuda *gate, cudaStream_t stream)
{
    if (!gate->host)
        return cudaSuccess;
    return kernel_wait(gate->device, ++gate->number, GATE_NS, stream);
}

static void open_until(struct gate_cuda *gate, unsigned number)
{
    if (gate->host)
        __atomic_store_n(&gate->host->open, number, __ATOMIC_RELEASE);
}

cudaError_t gate_next(struct gate_cuda *gate, cudaStream_t stream)
{
    const unsigned number = gate->number;
    cudaError_t rc = gate_close(gate, stream);

    open_until(gate, number);
    return rc;
}

void gate_open(struct gate_cuda *gate)
{
    open_until(gate, gate->number);
}

bool gate_held(const struct gate_cuda *gate, unsigned n)
{
    return gate->host && gate->number - __atomic_load_n(&gate->host->expired,
                                                        __ATOMIC_ACQUIRE) >=
                             n;
}
