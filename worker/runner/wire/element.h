/* element.h - elements of the arguments of kernels, in memory
 *
 * Loads and stores convert to double, which is exact for all values of these
 * types except int64 beyond 2^53. Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_ELEMENT_H
#define FA_WORKER_RUNNER_WIRE_ELEMENT_H

#include <math.h>
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

/* The value of a float type that is nearest to 'value'. */
ELEMENT_FN double element_round(enum element_type type, double value)
{
    uint64_t room;

    element_store(&room, type, 0, value);
    return element_load(&room, type, 0);
}

/* The distance from |value| to the next larger number of a float type; 1 of an
 * integer type.  In [2^e, 2^(e+1)) that is 2^(e - digits after the point), and
 * at least the smallest subnormal. */
ELEMENT_FN double element_ulp(enum element_type type, double value)
{
    int digits = 0, least = 0, exponent;

    switch (type) {
    case ELEMENT_FP16:
        digits = 10;
        least = -24;
        break;
    case ELEMENT_BF16:
        digits = 7;
        least = -133;
        break;
    case ELEMENT_FP32:
        digits = 23;
        least = -149;
        break;
    case ELEMENT_FP64:
        digits = 52;
        least = -1074;
        break;
    case ELEMENT_INT8:
    case ELEMENT_INT32:
    case ELEMENT_INT64:
        return 1;
    }
    (void)frexp(value, &exponent); /* value = [0.5, 1) * 2^exponent, or 0 */
    exponent = value == 0 ? least : exponent - 1 - digits;
    return ldexp(1.0, exponent > least ? exponent : least);
}

/* The byte that marks memory as unwritten: a NaN in every float type (fp16
 * 0xffff, ...), -1 in every integer type. */
#define ELEMENT_POISON 0xff

#endif
