/* spec_kernel.h - a kernel of a sweep file: its source, how it is built and
 * launched, and its arguments
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_KERNEL_H
#define FA_COORDINATOR_SPEC_SPEC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/spec/spec_rule.h"

#define SPEC_DIMS_MAX 8 /* of an argument */
#define SPEC_SCALE_MAX 1e30

struct spec_launch {
    struct spec_rule grid[3]; /* a missing one is "1" */
    struct spec_rule block[3];
    struct spec_rule smem; /* bytes; "0" by default */
};

struct spec_kernel {
    char *source; /* relative to the folder */
    size_t source_at;
    char *entry;
    struct spec_launch launch;
};

/* The options of nvcc. */
struct spec_compile {
    const char *standard; /* c++17 */
    char **flags;
    size_t n_flags;
};

/* Every rule must hold (docs/sweep-file.md, section 9); INFINITY: not given.
 * 'exact' stands alone. */
struct spec_tolerance {
    double relative_l2, max_error, absolute, ulp;
    bool exact;
};

struct spec_argument {
    char *name;
    size_t at;
    const char *type; /* fp16 bf16 fp32 fp64 int8 int32 int64 */
    size_t type_bytes;
    bool buffer;
    bool output;     /* compared; written, and read if it has a fill */
    bool infinities; /* inputs: a proof has some */
    bool workspace;  /* written, never compared */
    struct spec_rule
        dims[SPEC_DIMS_MAX]; /* buffers: elements are the product */
    size_t n_dims;
    /* buffers: normal uniform zeros ones iota ramp range sorted permutation
     * file; poison: no fill */
    const char *fill;
    char *file; /* of the fill file, with "{shape}" as it stands; else NULL */
    size_t file_at;
    double scale;                /* of buffers without scale_rule */
    struct spec_rule scale_rule; /* buffers: of shape variables */
    /* Of range the lowest and the highest, of sorted the last; of shape
     * variables. */
    struct spec_rule bounds[2];
    struct spec_rule value;          /* scalars */
    struct spec_tolerance tolerance; /* outputs: their own, or the sweep's */
    bool own_tolerance;
};

#endif
