/* fill_kind.h - what a buffer can be filled with */
#ifndef FA_WORKER_RUNNER_WIRE_FILL_KIND_H
#define FA_WORKER_RUNNER_WIRE_FILL_KIND_H

#include <stdbool.h>

#include "worker/runner/wire/element_type.h"

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
    FILL_FILE,        /* the bytes of a file */
};

enum {
    FILL_KINDS = 11
};

/* Are its values drawn, and with edges? */
ELEMENT_FN bool fill_is_random(enum fill_kind kind)
{
    return kind == FILL_NORMAL || kind == FILL_UNIFORM || kind == FILL_RAMP;
}

/* Are they integers that are drawn? */
ELEMENT_FN bool fill_is_drawn(enum fill_kind kind)
{
    return kind == FILL_RANGE || kind == FILL_SORTED ||
           kind == FILL_PERMUTATION;
}

#endif
