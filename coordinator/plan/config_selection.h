/* config_selection.h - which configurations a run is about, when not all that
 * pass
 *
 * Named ones, a covering set of those that pass, or all that pass; a union of
 * these, each configuration once.  What passes is known when the device is,
 * so it is only said here and found out by plan_make().
 * Thread rule: no state of its own; any thread.
 */
#ifndef FA_COORDINATOR_PLAN_CONFIG_SELECTION_H
#define FA_COORDINATOR_PLAN_CONFIG_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

#include "coordinator/text/value.h"

struct err;
struct stored_params;
struct space;
struct spec;

struct config_selection {
    bool cover, all;      /* of what passes */
    struct value *values; /* named: n rows of a value each tunable */
    size_t n;
    char **texts; /* what texts among the values point into */
    size_t n_texts;
};

void config_selection_fini(struct config_selection *selection);

void config_selection_baseline(struct config_selection *selection,
                               const struct spec *spec);
/* "A=1,B=2"; what is not named has the baseline's value.  ERR_INPUT */
int config_selection_named(struct config_selection *selection,
                           const struct spec *spec, const char *text,
                           struct err *err);
/* Stored parameters; false when they are of other tunables, from before the
 * file was changed. */
bool config_selection_params(struct config_selection *selection,
                             const struct spec *spec,
                             const struct stored_params *params);

struct chosen {
    int64_t point;              /* its number, -1 outside the axes */
    const struct value *values; /* outside: the choice's, else NULL */
    uint64_t warned;            /* bit g: warn gate g of the spec is hit */
};

/* What that is in a space: named ones first, whether they pass or not, then
 * those that pass, in order.  The caller frees '*out'.
 * ERR_INPUT when it is not one, or a gate is wrong. */
int config_selection_resolve(const struct config_selection *selection,
                             const struct spec *spec, struct space *space,
                             struct chosen **out, size_t *n, struct err *err);

#endif
