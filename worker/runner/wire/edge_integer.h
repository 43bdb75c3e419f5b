/* edge_integer.h - integers that are seldom drawn: the ends of a range, ties,
 * long rows, permutations that move little
 *
 * All of them are within the range.  An extreme one and one with an offset is
 * any.  Same bits from the host and from nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_EDGE_INTEGER_H
#define FA_WORKER_RUNNER_WIRE_EDGE_INTEGER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/runner/wire/edge.h"
#include "worker/runner/wire/fill_integer.h"

/* fill_range() with edges: zeros (or what is nearest to 0), one of four values,
 * the ends, as tiny ones the ends and what is next to them, and, as negative
 * ones, the lower half, whose sums may overflow. */
ELEMENT_FN int64_t fill_range_edge(unsigned edges, uint64_t key, int64_t i,
                                   int64_t low, int64_t high)
{
    const uint64_t bits = edge_bits(key, i) >> 16;
    const int64_t inwards = high > low && bits & 2u ? 1 : 0;

    switch (edge_at(edges, key, i)) {
    case EDGE_ZEROS:
        return low > 0 ? low : high < 0 ? high : 0;
    case EDGE_TIES:
        return fill_range(key, -1 - (int64_t)(bits % 4), low, high);
    case EDGE_LARGE:
        return bits & 1u ? high : low;
    case EDGE_TINY:
        return bits & 1u ? high - inwards : low + inwards;
    case EDGE_NEGATIVE:
        return fill_range(
            key, i, low, low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2));
    default:
        return fill_range(key, i, low, high);
    }
}

/* fill_sorted() with edges: rows are empty or twice the mean; of large ones,
 * one in EDGE_RUN has all that the others of its run have not. */
ELEMENT_FN int64_t fill_sorted_edge(unsigned edges, uint64_t key, int64_t i,
                                    int64_t count, int64_t high)
{
    int64_t step = i; /* of count - 2 equal ones */

    if (i == 0 || i == count - 1)
        return fill_sorted(key, i, count, high);
    switch (edge_at(edges, key, i)) {
    case EDGE_ZEROS:
    case EDGE_TIES:
    case EDGE_TINY:
        step -= (int64_t)(edge_bits(key, i) >> 16 & 1u);
        break;
    case EDGE_LARGE:
        step = (i - 1) / EDGE_RUN * EDGE_RUN;
        break;
    default:
        return fill_sorted(key, i, count, high);
    }
    return (int64_t)floor((double)high * ((double)step / (double)(count - 2)));
}

/* fill_permutation() with edges: the identity, neighbours changed, the reverse,
 * a turn by one.  Of several edges, 'key' says which one it is, or none. */
ELEMENT_FN int64_t fill_permutation_edge(unsigned edges, uint64_t key,
                                         int64_t i, int64_t count)
{
    const bool alone = (edges & (edges - 1)) == 0;

    switch (alone ? edges : edges & 1u << edge_bits(key, 0) % 8) {
    case 1u << EDGE_ZEROS:
        return i;
    case 1u << EDGE_TIES:
        return (i ^ 1) < count ? i ^ 1 : i;
    case 1u << EDGE_LARGE:
        return count - 1 - i;
    case 1u << EDGE_TINY:
        return i + 1 < count ? i + 1 : 0;
    default:
        return fill_permutation(key, i, count);
    }
}

#endif
