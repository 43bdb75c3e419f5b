/* spec_space.h - the tunables of a sweep file, and the gates
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_SPACE_H
#define FA_COORDINATOR_SPEC_SPEC_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/spec/spec_rule.h"
#include "coordinator/text/value.h"

#define SPEC_AXES_MAX 64
#define SPEC_VALUES_MAX 4096 /* of one tunable */

struct spec_axis {
    char *name;
    size_t at;
    enum value_kind kind; /* of all its values */
    struct value *values;
    size_t n;
};

struct spec_gate {
    char *name;
    size_t at;
    bool warns; /* it only warns; otherwise it rejects */
    struct spec_rule rule;
    char *why; /* the text for the user, never "" */
};

/* The tunables that span the space, and the gates that limit it. */
struct spec_space {
    struct spec_axis *axes; /* the tunables */
    size_t axes_at;
    size_t n_axes;
    struct spec_named *derived;
    size_t n_derived;
    struct spec_gate *gates;
    size_t n_gates;
};

struct spec_baseline {
    struct value *values; /* one for each tunable; may be outside its values */
    size_t at;
};

#endif
