/* edge.h - inputs that a normal distribution never produces
 *
 * In a trial with edges, what was drawn at random is changed at places drawn
 * from (key, i): floats of the fills normal, ramp and uniform, the last within
 * its interval (edge_float.h); integers of the fills range, sorted and
 * permutation (edge_integer.h).  An edge alone is strong; several together
 * leave half of the elements as they are.  Same bits from the host and from
 * nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_EDGE_H
#define FA_WORKER_RUNNER_WIRE_EDGE_H

#include <stdint.h>

#include "worker/runner/wire/element_type.h"
#include "worker/runner/wire/fill_random.h"

enum edge {
    EDGE_ZEROS,      /* half of the elements, whole runs of them; 0 and -0 */
    EDGE_TIES,       /* multiples of 1/2 (uniform: 1/4), so many are equal */
    EDGE_LARGE,      /* 16 times the values */
    EDGE_TINY,       /* subnormals of the type; alone also 1/64 of values */
    EDGE_INFINITIES, /* one in 64 elements, where the argument allows it */
    EDGE_EXTREME,    /* edge_extreme() times the values */
    EDGE_NEGATIVE,   /* none is positive, so a maximum is below 0, too */
    EDGE_OFFSET,     /* far from 0, close together */
};

enum {
    EDGES = 8
};

#define EDGE_RUN 64 /* elements of a run of zeros */

/* What is drawn for an edge is independent of the values. */
ELEMENT_FN uint64_t edge_bits(uint64_t key, int64_t i)
{
    return fill_bits(fill_mix(key + 0x9fb21c651e98df25u), i);
}

/* The edge of element 'i', or EDGES for none. */
ELEMENT_FN int edge_at(unsigned edges, uint64_t key, int64_t i)
{
    const uint64_t bits = edge_bits(key, i);
    int edge = (int)(bits % 8); /* of several: an eighth of the elements each */

    for (int alone = 0; alone < EDGES; alone++)
        if (edges == 1u << alone)
            edge = alone;
    if (edges == 1u << EDGE_ZEROS && bits % 2 == 0 &&
        edge_bits(key, ~(i / EDGE_RUN)) % 4 != 0)
        return EDGES;
    if (edges == 1u << EDGE_INFINITIES && bits % 64 != 0)
        return EDGES;
    return edge < EDGES && edges >> edge & 1u ? edge : (int)EDGES;
}

#endif
