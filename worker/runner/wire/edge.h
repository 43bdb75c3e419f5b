/* edge.h - inputs that a normal distribution never produces
 *
 * In a trial with edges, what was drawn at random is changed at places drawn
 * from (key, i): floats of the fills normal, ramp and uniform, the last within
 * its interval.  An edge alone is strong; several together leave half of the
 * elements as they are.  Same bits from the host and from nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_EDGE_H
#define FA_WORKER_RUNNER_WIRE_EDGE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill_random.h"

enum edge {
    EDGE_ZEROS,      /* half of the elements, whole runs of them; 0 and -0 */
    EDGE_TIES,       /* multiples of 1/2 (uniform: 1/4), so many are equal */
    EDGE_LARGE,      /* 16 times the values */
    EDGE_TINY,       /* subnormals of the type; alone also 1/64 of values */
    EDGE_INFINITIES, /* one in 64 elements, where the argument allows it */
    EDGE_EXTREME,    /* edge_extreme() times the values */
};

enum {
    EDGES = 6
};

/* 16 and 1/64 keep the products and sums of fp16 inputs that are normal for
 * their kernel among the normal numbers of fp16. */
#define EDGE_LARGE_FACTOR 16.0
#define EDGE_TINY_FACTOR 0.015625
#define EDGE_RUN 64 /* elements of a run of zeros */

/* How much a nudge changes a value: one or two of fp16's steps. */
#define EDGE_NUDGE 0x1p-10

/* As large as leaves normal inputs in range: of fp16, most of what there is; of
 * the others, so that a product of four fp32 is in range as well. */
ELEMENT_FN double edge_extreme(enum element_type type)
{
    return type == ELEMENT_FP16 ? 0x1p12 : 0x1p24;
}

/* What is drawn for an edge is independent of the values. */
ELEMENT_FN uint64_t edge_bits(uint64_t key, int64_t i)
{
    return fill_bits(fill_mix(key + 0x9fb21c651e98df25u), i);
}

/* One of the subnormals of a float type, each as likely. */
ELEMENT_FN double edge_subnormal(enum element_type type, uint64_t bits)
{
    const double numbers = 1 / element_ulp(type, 1);

    return element_ulp(type, 0) *
           (1 + floor((double)(bits >> 11) * 0x1p-53 * (numbers - 1)));
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

/* A value of 'unit' size, changed; then it is multiplied by the scale. 'type'
 * is a float type. */
ELEMENT_FN double edge_value(unsigned edges, enum element_type type,
                             bool is_uniform, double unit, double scale,
                             uint64_t key, int64_t i)
{
    const uint64_t bits = edge_bits(key, i);
    const double sign = !is_uniform && bits & 1u << 8 ? -1 : 1;

    switch (edge_at(edges, key, i)) {
    case EDGE_ZEROS:
        return sign * 0.0;
    case EDGE_TIES:
        return scale * (is_uniform ? floor(unit * 4) / 4 : rint(unit * 2) / 2);
    case EDGE_LARGE:
        return scale * (is_uniform ? unit : unit * EDGE_LARGE_FACTOR);
    case EDGE_TINY:
        return edges == 1u << EDGE_TINY && bits >> 16 & 7u
                   ? scale * (unit * EDGE_TINY_FACTOR)
                   : sign * edge_subnormal(type, bits);
    case EDGE_INFINITIES:
        return sign * (double)INFINITY;
    case EDGE_EXTREME:
        return scale * (is_uniform ? unit : unit * edge_extreme(type));
    default:
        return scale * unit;
    }
}

/* The value, a little more or less. */
ELEMENT_FN double edge_nudged(double value, uint64_t key, int64_t i)
{
    return value *
           (edge_bits(key, i) & 1u << 9 ? 1 + EDGE_NUDGE : 1 - EDGE_NUDGE);
}

#endif
