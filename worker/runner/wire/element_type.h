/* element_type.h - the element types of kernel arguments, and their sizes
 *
 * Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_ELEMENT_TYPE_H
#define FA_WORKER_RUNNER_WIRE_ELEMENT_TYPE_H

#include <stddef.h>

#ifdef __CUDACC__
#define ELEMENT_FN __host__ __device__ static inline
#else
#define ELEMENT_FN static inline
#endif

enum element_type {
    ELEMENT_FP16,
    ELEMENT_BF16,
    ELEMENT_FP32,
    ELEMENT_FP64,
    ELEMENT_INT8,
    ELEMENT_INT32,
    ELEMENT_INT64,
};

enum {
    ELEMENT_TYPES = 7
};

ELEMENT_FN size_t element_bytes(enum element_type type)
{
    switch (type) {
    case ELEMENT_INT8:
        return 1;
    case ELEMENT_FP16:
    case ELEMENT_BF16:
        return 2;
    case ELEMENT_FP32:
    case ELEMENT_INT32:
        return 4;
    case ELEMENT_FP64:
    case ELEMENT_INT64:
        return 8;
    }
    return 0;
}

ELEMENT_FN int element_is_float(enum element_type type)
{
    return type <= ELEMENT_FP64;
}

#endif
