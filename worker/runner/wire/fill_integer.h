/* fill_integer.h - indices: ranges, row pointers, permutations
 *
 * As in fill_random.h, element i is a function of (key, i) alone, with the same
 * bits from the host and from nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_FILL_INTEGER_H
#define FA_WORKER_RUNNER_WIRE_FILL_INTEGER_H

#include <math.h>
#include <stdint.h>

#include "worker/runner/wire/element_type.h"
#include "worker/runner/wire/fill_random.h"

/* From low to high, each as likely; high - low < 2^63. */
ELEMENT_FN int64_t fill_range(uint64_t key, int64_t i, int64_t low,
                              int64_t high)
{
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;

    return low + (int64_t)(fill_bits(key, i) % span);
}

/* Element 'i' of 'count' that never decrease, the first 0 and the last 'high'
 * (<= 2^53), like the row pointers of a sparse matrix.  Row lengths are up to
 * twice the mean; one in sixteen is empty. */
ELEMENT_FN int64_t fill_sorted(uint64_t key, int64_t i, int64_t count,
                               int64_t high)
{
    const uint64_t bits = fill_bits(key, i);
    double within;

    if (i == 0)
        return 0;
    if (i == count - 1)
        return high;
    switch (bits % 4) { /* the place between two equal steps */
    case 0:
        within = 0;
        break;
    case 1:
        within = 1;
        break;
    default:
        within = (double)(bits >> 11) * 0x1p-53;
        break;
    }
    return (int64_t)floor((double)high *
                          (((double)(i - 1) + within) / (double)(count - 2)));
}

/* Place 'i' of a permutation of 0 .. count - 1: a Feistel network (Luby,
 * Rackoff 1988) over the next power of four, repeated until it is below
 * 'count'. */
ELEMENT_FN int64_t fill_permutation(uint64_t key, int64_t i, int64_t count)
{
    unsigned half = 0;
    uint64_t mask, x = (uint64_t)i;

    while (((uint64_t)1 << 2 * half) < (uint64_t)count)
        half++;
    mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = x >> half, right = x & mask;

        for (int64_t round = 0; round < 6; round++) {
            const uint64_t next = left ^ (fill_bits(key + right, round) & mask);

            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= (uint64_t)count);
    return (int64_t)x;
}

#endif
