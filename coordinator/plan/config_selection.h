/* config_selection.h - selects the configurations of a run
 *
 * A selection is a union of named configurations, a covering set of those that
 * pass the gates, and all that pass; each configuration occurs once.  Which
 * ones pass depends on the device, so plan_make() evaluates the selection
 * later.
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
    bool cover, all;      /* of those that pass */
    struct value *values; /* named: n rows with a value for each tunable */
    size_t n;
    char **texts; /* storage of the texts among the values */
    size_t n_texts;
};

void config_selection_fini(struct config_selection *selection);

void config_selection_baseline(struct config_selection *selection,
                               const struct spec *spec);
/* "A=1,B=2"; tunables that are not named have the baseline's value.
 * ERR_INPUT */
int config_selection_named(struct config_selection *selection,
                           const struct spec *spec, const char *text,
                           struct err *err);
/* Add stored parameters; false if they have other tunables, because the file
 * has changed since. */
bool config_selection_params(struct config_selection *selection,
                             const struct spec *spec,
                             const struct stored_params *params);

struct chosen {
    int64_t point;              /* number of the point, -1 outside the axes */
    const struct value *values; /* only outside the axes, otherwise NULL; of the
                                 * selection */
    uint64_t warned;            /* bit g: warn gate g of the spec is hit */
};

/* Evaluate the selection in a space: first the named ones, whether they pass or
 * not, then those that pass, in order.  The caller frees '*out'. ERR_INPUT if a
 * named one is no configuration, or a gate is wrong. */
int config_selection_resolve(const struct config_selection *selection,
                             const struct spec *spec, struct space *space,
                             struct chosen **out, size_t *n, struct err *err);

#endif
