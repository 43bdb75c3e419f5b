/* smem_cuda.h - what of a block's shared memory must be asked for
 *
 * A kernel's static shared memory and the dynamic of its launch share one
 * limit.  What a kernel may have of dynamic shared memory is at first that
 * limit less its static shared memory
 * (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES in the driver's reference);
 * more is granted on request.  Pure.
 */
#ifndef FA_WORKER_RUNNER_CUDA_SMEM_CUDA_H
#define FA_WORKER_RUNNER_CUDA_SMEM_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* CUDA C++ Programming Guide, table of technical specifications. */
#define SMEM_CUDA_UNASKED ((size_t)48 * 1024)

static inline bool smem_cuda_must_ask(size_t dynamic, size_t fixed)
{
    return dynamic > 0 && dynamic + fixed > SMEM_CUDA_UNASKED;
}

#endif
