/* fill.h - how buffers are filled
 *
 * Compiled by the host and by nvcc, with the same bits from both
 * (fill_random.h).
 */
#ifndef FA_WORKER_RUNNER_WIRE_FILL_H
#define FA_WORKER_RUNNER_WIRE_FILL_H

#include <stdint.h>

#include "worker/runner/wire/element_type.h"
#include "worker/runner/wire/fill_integer.h"
#include "worker/runner/wire/fill_random.h"

enum fill_kind {
    FILL_NORMAL,  /* mean 0, standard deviation 1 */
    FILL_UNIFORM, /* [0, 1) */
    FILL_ZEROS,
    FILL_ONES,
    FILL_IOTA,        /* 0, 1, 2, ... */
    FILL_RAMP,        /* normal, row r of 'rows' times (r + 1) / rows */
    FILL_RANGE,       /* integers from 'low' to 'high' */
    FILL_SORTED,      /* integers that never decrease, from 0 to 'high' */
    FILL_PERMUTATION, /* of 0 .. 'count' - 1 */
    FILL_POISON,      /* no values: it stays as it is allocated */
};

enum {
    FILL_KINDS = 10
};

/* A fill of a buffer; a ramp's buffer is a stack of matrices. */
struct fill {
    enum fill_kind kind;
    double scale;
    int64_t rows, columns; /* of a ramp, >= 1 */
    int64_t low, high;     /* of a range and of what is sorted; to 2^53 */
    int64_t count;         /* elements of the buffer */
};

/* Element 'i' before conversion to the type of the buffer. */
ELEMENT_FN double fill_value(const struct fill *fill, uint64_t key, int64_t i)
{
    int64_t row;

    switch (fill->kind) {
    case FILL_NORMAL:
        return fill->scale * fill_normal(key, i);
    case FILL_RAMP:
        row = i / fill->columns % fill->rows;
        return fill->scale *
               (fill_normal(key, i) * ((double)(row + 1) / (double)fill->rows));
    case FILL_UNIFORM:
        return fill->scale * (double)(fill_bits(key, i) >> 11) * 0x1p-53;
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
        break;
    }
    return 0;
}

#endif
