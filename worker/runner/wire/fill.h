/* fill.h - how buffers are filled
 *
 * Compiled by the host and by nvcc, with the same bits from both
 * (fill_random.h).
 */
#ifndef FA_WORKER_RUNNER_WIRE_FILL_H
#define FA_WORKER_RUNNER_WIRE_FILL_H

#include <stdint.h>

#include "worker/runner/wire/edge_float.h"
#include "worker/runner/wire/edge_integer.h"
#include "worker/runner/wire/edge_nudge.h"
#include "worker/runner/wire/element.h"
#include "worker/runner/wire/element_type.h"
#include "worker/runner/wire/fill_integer.h"
#include "worker/runner/wire/fill_kind.h"
#include "worker/runner/wire/fill_random.h"

/* A fill of a buffer; a ramp's buffer is a stack of matrices. */
struct fill {
    enum fill_kind kind;
    double scale;
    int64_t rows, columns;  /* of a ramp, >= 1 */
    int64_t low, high;      /* of a range and of what is sorted; to 2^53 */
    int64_t count;          /* elements of the buffer */
    unsigned edges;         /* bit e: enum edge e; 0 unless values are drawn */
    enum element_type type; /* of the buffer */
    bool nudged, moderate;  /* with edges, of floats (edge_nudge.h) */
};

/* Element 'i' of a random fill before the scale. */
ELEMENT_FN double fill_unit(const struct fill *fill, uint64_t key, int64_t i)
{
    int64_t row;

    if (fill->kind == FILL_UNIFORM)
        return fill_below_one(fill->type, fill->scale,
                              (double)(fill_bits(key, i) >> 11) * 0x1p-53);
    if (fill->kind == FILL_NORMAL)
        return fill_normal(key, i);
    row = i / fill->columns % fill->rows;
    return fill_normal(key, i) * ((double)(row + 1) / (double)fill->rows);
}

ELEMENT_FN double fill_edge(const struct fill *fill, uint64_t key, int64_t i)
{
    const struct edge_floats of = { fill->edges, fill->type,
                                    fill->kind == FILL_UNIFORM, fill->moderate,
                                    fill->scale };
    double value;

    if (fill->kind == FILL_RANGE)
        return (double)fill_range_edge(fill->edges, key, i, fill->low,
                                       fill->high);
    if (fill->kind == FILL_SORTED)
        return (double)fill_sorted_edge(fill->edges, key, i, fill->count,
                                        fill->high);
    if (fill->kind == FILL_PERMUTATION)
        return (double)fill_permutation_edge(fill->edges, key, i, fill->count);
    value = edge_value(&of, fill_unit(fill, key, i), key, i);
    return fill->nudged
               ? edge_nudged(value, edge_nudge(fill->edges, fill->type), key, i)
               : value;
}

/* Element 'i' before conversion to the type of the buffer; of a file it is
 * not known here. */
ELEMENT_FN double fill_value(const struct fill *fill, uint64_t key, int64_t i)
{
    if (fill->edges)
        return fill_edge(fill, key, i);
    switch (fill->kind) {
    case FILL_NORMAL:
    case FILL_RAMP:
    case FILL_UNIFORM:
        return fill->scale * fill_unit(fill, key, i);
    case FILL_ONES:
        return fill->scale;
    case FILL_IOTA:
        return fill->scale * (double)i;
    case FILL_RANGE:
        return (double)fill_range(key, i, fill->low, fill->high);
    case FILL_SORTED:
        return (double)fill_sorted(key, i, fill->count, fill->high);
    case FILL_PERMUTATION:
        return (double)fill_permutation(key, i, fill->count);
    case FILL_ZEROS:
    case FILL_POISON:
    case FILL_FILE:
        break;
    }
    return 0;
}

#endif
