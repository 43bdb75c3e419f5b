/* fill_random.h - a counter-based generator, uniform and normal
 *
 * Element i of a stream is a function of (key, i) alone: no state, any order,
 * any number of threads.  Each buffer has its own stream of the seed, so that
 * q, k and v are independent.  Compiled by the host and by nvcc, with the same
 * bits from both: it uses only integers and operations that IEEE 754 defines
 * exactly.  Each multiply-add is written as fma(), so that compilers have no
 * choice.
 *
 * The bits are those of splitmix64 (Steele, Lea, Flood 2014) over the counter,
 * keyed before and after; normal values are Box-Muller over two of 24 bits.
 */
#ifndef FA_WORKER_RUNNER_WIRE_FILL_RANDOM_H
#define FA_WORKER_RUNNER_WIRE_FILL_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "worker/runner/wire/element.h"

ELEMENT_FN uint64_t fill_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The key of the stream of argument number 'argument' under 'seed'. */
ELEMENT_FN uint64_t fill_key(uint64_t seed, unsigned argument)
{
    uint64_t key = fill_mix(seed + 0x9e3779b97f4a7c15u);

    return fill_mix(key ^ ((uint64_t)argument + 1) * 0xd1342543de82ef95u);
}

ELEMENT_FN uint64_t fill_bits(uint64_t key, int64_t i)
{
    return fill_mix(fill_mix(key + (uint64_t)i * 0x9e3779b97f4a7c15u) ^ key);
}

/* -2 ln(n / 2^24) for n in [1, 2^24], to 1e-12. */
ELEMENT_FN double fill_log(uint32_t n)
{
    int exponent;
    double x = frexp((double)n * 0x1p-24, &exponent), s, z, sum;

    if (x < 0.75) { /* to [0.75, 1.5), exactly */
        x *= 2.0;
        exponent--;
    }
    s = (x - 1.0) / (x + 1.0);
    z = s * s;
    sum = fma(z, 1.0 / 17, 1.0 / 15);
    sum = fma(z, sum, 1.0 / 13);
    sum = fma(z, sum, 1.0 / 11);
    sum = fma(z, sum, 1.0 / 9);
    sum = fma(z, sum, 1.0 / 7);
    sum = fma(z, sum, 1.0 / 5);
    sum = fma(z, sum, 1.0 / 3);
    sum = fma(z, sum, 1.0);
    return -2.0 * fma((double)exponent, 0.69314718055994531, 2.0 * s * sum);
}

/* cos(2 pi n / 2^24) for n in [0, 2^24), to 1e-12. */
ELEMENT_FN double fill_cos(uint32_t n)
{
    uint32_t half = n > 1u << 23 ? (1u << 24) - n : n;
    uint32_t quarter = half > 1u << 22 ? (1u << 23) - half : half;
    double x = (double)quarter * (6.28318530717958648 * 0x1p-24);
    double z = x * x, sum;

    sum = fma(z, -1.0 / 6402373705728000.0, 1.0 / 20922789888000.0);
    sum = fma(z, sum, -1.0 / 87178291200.0);
    sum = fma(z, sum, 1.0 / 479001600.0);
    sum = fma(z, sum, -1.0 / 3628800.0);
    sum = fma(z, sum, 1.0 / 40320.0);
    sum = fma(z, sum, -1.0 / 720.0);
    sum = fma(z, sum, 1.0 / 24.0);
    sum = fma(z, sum, -0.5);
    sum = fma(z, sum, 1.0);
    return half == quarter ? sum : -sum;
}

ELEMENT_FN double fill_normal(uint64_t key, int64_t i)
{
    uint64_t bits = fill_bits(key, i);
    uint32_t u = (uint32_t)(bits >> 40) + 1;
    uint32_t v = (uint32_t)(bits >> 8) & 0xffffffu;

    return sqrt(fill_log(u)) * fill_cos(v);
}

/* The nearest number of a float type to scale * unit may be the scale itself:
 * then it is the one before. */
ELEMENT_FN double fill_below_one(enum element_type type, double scale,
                                 double unit)
{
    const double most = fabs(scale);
    const double near_one = 1 - 0x1p-7; /* below, bf16 does not round so far */
    double rounded;

    if (unit < near_one || most == 0 || !element_is_float(type))
        return unit;
    rounded = element_round(type, most * unit);
    return rounded < most ? unit
                          : (rounded - element_ulp(type, most * unit)) / most;
}

#endif
