/* edge_float.h - floats that a normal distribution never produces
 *
 * Same bits from the host and from nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_EDGE_FLOAT_H
#define FA_WORKER_RUNNER_WIRE_EDGE_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/runner/wire/edge.h"
#include "worker/runner/wire/element.h"

/* 16 and 1/64 keep the products and sums of fp16 inputs that are normal for
 * their kernel among the normal numbers of fp16. */
#define EDGE_LARGE_FACTOR 16.0
#define EDGE_TINY_FACTOR 0.015625

/* As large as leaves normal inputs in range: of fp16, most of what there is; of
 * the others, so that a product of four is in range as well, of fp32 if it is
 * 'moderate'. */
ELEMENT_FN double edge_extreme(enum element_type type, bool moderate)
{
    if (type == ELEMENT_FP16)
        return 0x1p12;
    return type == ELEMENT_FP64 && !moderate ? 0x1p240 : 0x1p24;
}

/* A value of 'unit' size, moved: its mean is then 4096 times its deviation, so
 * that the difference of two sums of squares has nothing left in fp32.  It is
 * negative, so that a maximum which begins with 0 leaves exp() nothing either.
 * Of 16 bits it is 16 or 32 times that, so that values differ and sums of
 * products are in range.  What is uniform is moved within its interval. */
ELEMENT_FN double edge_offset(enum element_type type, bool uniform, double unit)
{
    const bool narrow = element_bytes(type) == 2;

    if (uniform)
        return 0.5 + (unit - 0.5) * (narrow ? 0.125 : 0x1p-6);
    if (narrow)
        return unit * (type == ELEMENT_BF16 ? 0.125 : 0x1p-4) - 2;
    return unit * 0x1p-5 - 128;
}

/* One of the subnormals of a float type, each as likely. */
ELEMENT_FN double edge_subnormal(enum element_type type, uint64_t bits)
{
    const double numbers = 1 / element_ulp(type, 1);

    return element_ulp(type, 0) *
           (1 + floor((double)(bits >> 11) * 0x1p-53 * (numbers - 1)));
}

/* The edges of floats. */
struct edge_floats {
    unsigned edges; /* bit e: enum edge e */
    enum element_type type;
    bool uniform;
    bool moderate; /* edge_extreme() */
    double scale;
};

/* A value of 'unit' size, changed; then it is multiplied by the scale. */
ELEMENT_FN double edge_value(const struct edge_floats *of, double unit,
                             uint64_t key, int64_t i)
{
    const uint64_t bits = edge_bits(key, i);
    const double sign = !of->uniform && bits & 1u << 8 ? -1 : 1;
    double factor = 1;

    switch (edge_at(of->edges, key, i)) {
    case EDGE_ZEROS:
        return sign * 0.0;
    case EDGE_TIES:
        return of->scale *
               (of->uniform ? floor(unit * 4) / 4 : rint(unit * 2) / 2);
    case EDGE_LARGE:
        if (of->uniform)
            return of->scale * fill_below_one(of->type, of->scale,
                                              1 - unit * EDGE_TINY_FACTOR);
        factor = EDGE_LARGE_FACTOR;
        break;
    case EDGE_TINY:
        if (of->edges != 1u << EDGE_TINY || !(bits >> 16 & 7u))
            return sign * edge_subnormal(of->type, bits);
        return of->scale * (unit * EDGE_TINY_FACTOR);
    case EDGE_INFINITIES:
        return sign * (double)INFINITY;
    case EDGE_EXTREME:
        factor = edge_extreme(of->type, of->moderate);
        break;
    case EDGE_NEGATIVE:
        factor = unit > 0 ? -1 : 1;
        break;
    case EDGE_OFFSET:
        return of->scale * edge_offset(of->type, of->uniform, unit);
    default:
        break;
    }
    return of->scale * (of->uniform ? unit : unit * factor);
}

#endif
