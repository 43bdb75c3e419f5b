/* element_half.h - fp16 and bf16, to and from float
 *
 * They round to nearest even.  They operate on bits, so the host and nvcc
 * compile the same code, and a test on the host covers both.
 */
#ifndef FA_WORKER_RUNNER_WIRE_ELEMENT_HALF_H
#define FA_WORKER_RUNNER_WIRE_ELEMENT_HALF_H

#include <stdint.h>
#include <string.h>

#include "worker/runner/wire/element_type.h"

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

#endif
