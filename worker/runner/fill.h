/* fill.h - what inputs are filled with: a counter-based generator
 *
 * Element i of a stream is a function of (key, i) alone: no state, any order,
 * any number of threads.  Each buffer has its own stream of the seed, so that
 * q, k and v are independent.  Compiled by the host and by nvcc.
 *
 * The bits are those of splitmix64 (Steele, Lea, Flood 2014) over the counter,
 * keyed before and after; normal values are Box-Muller over two 32-bit halves.
 */
#ifndef FA_WORKER_RUNNER_FILL_H
#define FA_WORKER_RUNNER_FILL_H

#include <math.h>

#include "worker/runner/element.h"

enum fill_kind {
    FILL_NORMAL,  /* mean 0, standard deviation 1 */
    FILL_UNIFORM, /* [0, 1) */
    FILL_ZEROS,
    FILL_ONES,
    FILL_IOTA, /* 0, 1, 2, ... */
};

enum {
    FILL_KINDS = 5
};

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

/* Element 'i' before conversion to the type of the buffer. */
ELEMENT_FN double fill_value(enum fill_kind kind, double scale, uint64_t key,
                             int64_t i)
{
    uint64_t bits;
    float u, v;

    switch (kind) {
    case FILL_NORMAL:
        bits = fill_bits(key, i);
        u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f; /* (0, 1) */
        v = (float)(uint32_t)((bits >> 8) & 0xffffffu) * 0x1p-24f;
        return scale *
               (double)(sqrtf(-2.0f * logf(u)) * cosf(6.283185307f * v));
    case FILL_UNIFORM:
        return scale * (double)(fill_bits(key, i) >> 11) * 0x1p-53;
    case FILL_ONES:
        return scale;
    case FILL_IOTA:
        return scale * (double)i;
    case FILL_ZEROS:
        break;
    }
    return 0;
}

#endif
