/* spec_shape.h - the sizes that a kernel is measured at
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_SHAPE_H
#define FA_COORDINATOR_SPEC_SPEC_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#define SPEC_SHAPES_MAX 256 /* of a list, after products are expanded */
#define SPEC_VARS_MAX 32    /* variables of a shape */

struct spec_shape {
    char *name;
    size_t at;
    int64_t *vars; /* one for each of spec.vars */
};

struct spec_shapes {
    char **vars; /* names of the shape variables */
    size_t n_vars;
    struct spec_shape *list; /* the first is the headline */
    size_t n;
    struct spec_shape *emulation; /* 'list' if none are given */
    size_t n_emulation;
    struct spec_shape *fuzz; /* 'list' if none are given */
    size_t n_fuzz;
    struct spec_shape *emulation_fuzz; /* 'emulation' if none are given */
    size_t n_emulation_fuzz;
};

#endif
