/* element.h - elements of the arguments of kernels, in memory
 *
 * Loads and stores convert to double, which is exact for all values of these
 * types except int64 beyond 2^53. Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_ELEMENT_H
#define FA_WORKER_RUNNER_WIRE_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "worker/runner/wire/element_half.h"
#include "worker/runner/wire/element_type.h"

/* Element 'i' of the array at 'base'. */
ELEMENT_FN double element_load(const void *base, enum element_type type,
                               int64_t i)
{
    switch (type) {
    case ELEMENT_FP16:
        return element_from_fp16(((const uint16_t *)base)[i]);
    case ELEMENT_BF16:
        return element_from_bf16(((const uint16_t *)base)[i]);
    case ELEMENT_FP32:
        return ((const float *)base)[i];
    case ELEMENT_FP64:
        return ((const double *)base)[i];
    case ELEMENT_INT8:
        return ((const int8_t *)base)[i];
    case ELEMENT_INT32:
        return ((const int32_t *)base)[i];
    case ELEMENT_INT64:
        return (double)((const int64_t *)base)[i];
    }
    return 0;
}

/* Integers are truncated towards zero, modulo their width; 'value' must fit
 * int64. */
ELEMENT_FN void element_store(void *base, enum element_type type, int64_t i,
                              double value)
{
    switch (type) {
    case ELEMENT_FP16:
        ((uint16_t *)base)[i] = element_to_fp16((float)value);
        break;
    case ELEMENT_BF16:
        ((uint16_t *)base)[i] = element_to_bf16((float)value);
        break;
    case ELEMENT_FP32:
        ((float *)base)[i] = (float)value;
        break;
    case ELEMENT_FP64:
        ((double *)base)[i] = value;
        break;
    case ELEMENT_INT8:
        ((int8_t *)base)[i] = (int8_t)(int64_t)value;
        break;
    case ELEMENT_INT32:
        ((int32_t *)base)[i] = (int32_t)(int64_t)value;
        break;
    case ELEMENT_INT64:
        ((int64_t *)base)[i] = (int64_t)value;
        break;
    }
}

/* The byte that marks memory as unwritten: a NaN in every float type (fp16
 * 0xffff, ...), -1 in every integer type. */
#define ELEMENT_POISON 0xff

#endif
