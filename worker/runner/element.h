/* element.h - the element types of kernel arguments
 *
 * Loads and stores go through double, which holds every value of these types
 * but the largest int64 (exact up to 2^53).  The fp16 and bf16 conversions
 * round to nearest even and are written on bits, so that the host and nvcc
 * compile one and the same code and a test of the host proves both.
 */
#ifndef FA_WORKER_RUNNER_ELEMENT_H
#define FA_WORKER_RUNNER_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

ELEMENT_FN uint32_t element_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

ELEMENT_FN float element_bits_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

ELEMENT_FN uint16_t element_to_bf16(float x)
{
    uint32_t bits = element_float_bits(x);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((bits >> 16) | 0x40u); /* keep a NaN a NaN */
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

ELEMENT_FN float element_from_bf16(uint16_t half)
{
    return element_bits_float((uint32_t)half << 16);
}

ELEMENT_FN uint16_t element_to_fp16(float x)
{
    uint32_t bits = element_float_bits(x);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t mantissa, shift, rest, half;

    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x33000000u) /* less than half the least subnormal */
        return (uint16_t)sign;
    if (magnitude >= 0x38800000u) { /* normal: rebias 127 to 15 */
        magnitude -= 0x38000000u;
        magnitude += 0xfffu + ((magnitude >> 13) & 1u);
        return (uint16_t)(sign | (magnitude >> 13));
    }
    shift = 126u - (magnitude >> 23);
    mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    half = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1u);
    if (rest > (1u << (shift - 1)) ||
        (rest == (1u << (shift - 1)) && (half & 1u)))
        half++;
    return (uint16_t)(sign | half);
}

ELEMENT_FN float element_from_fp16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint32_t mantissa = half & 0x3ffu;
    float tiny;

    if (exponent == 0x1f)
        return element_bits_float(sign | 0x7f800000u | (mantissa << 13));
    if (exponent)
        return element_bits_float(sign | ((exponent + 112) << 23) |
                                  (mantissa << 13));
    tiny = (float)mantissa * 5.9604644775390625e-8f; /* 2^-24 */
    return sign ? -tiny : tiny;
}

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

/* Integers take the value modulo their width, truncated towards zero;
 * 'value' must lie within int64. */
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

/* The byte that poisons memory nothing has written: a NaN in every float
 * type (fp16 0xffff, ...), -1 in every integer type. */
#define ELEMENT_POISON 0xff

#endif
