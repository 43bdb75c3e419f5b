/* plan.h - the units of a sweep, and what a worker must know about them
 *
 * A unit is a configuration that passed the gates.  The baseline comes first,
 * even outside the axes, then those without a warning, then those with one,
 * each group in the order of their points.  The unit after the last one is the
 * reference.  A unit has a config key (its parameters), a source key (the
 * inputs of its build) and, for each shape, a task key (the inputs of its
 * result: sources, shape, arguments, reference and tolerance). An old result is
 * valid exactly if its task key is the same.
 *
 * A plan may also be made for selected configurations and shapes.  These need
 * not pass the gates: plan_gate() tells which must not run.
 *
 * A plan for a search begins with the baseline alone and has room for more
 * units, which are taken one by one.  Room that is not used costs almost
 * nothing.  Immutable, except for taking units.  The spec and the space outlive
 * it.
 */
#ifndef FA_COORDINATOR_PLAN_PLAN_H
#define FA_COORDINATOR_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"

struct config_selection;
struct plan;
struct spec;
struct spec_shape;
struct space;
struct value;

/* What to plan for.  NULL means the baseline and all that pass, and the shapes
 * of the space.  All of it outlives the plan. */
struct plan_ask {
    const struct config_selection *choice;
    const struct spec_shape *shapes;
    size_t n_shapes;
};

struct plan_unit {
    char key[HASH_HEX]; /* of the parameters; "" for the reference */
    char source_key[HASH_HEX];
    int64_t point;   /* number before pruning; -1 outside the axes */
    uint64_t warned; /* bit g: warn gate g of the spec hits it */
    bool baseline;
    const struct value *values; /* only outside the axes, otherwise NULL */
};

/* 'device' is cuda, cpu or replay, 'arch' the target of the builds (sm_89,
 * cpu). ERR_INPUT if a gate or an expression is wrong, a source cannot be read,
 * or nothing passes the gates. */
int plan_make(const struct spec *spec, struct space *space,
              const struct plan_ask *ask, const char *device, const char *arch,
              struct plan **out, struct err *err);
/* The same with room for this many units, including the baseline. */
int plan_make_open(const struct spec *spec, struct space *space, int room,
                   const char *device, const char *arch, struct plan **out,
                   struct err *err);
void plan_free(struct plan *plan);
/* Take a point that passes, if there is room.  Returns its unit, or
 * ERR_INPUT. */
int plan_take(struct plan *plan, int64_t point, struct err *err);
int plan_taken(const struct plan *plan); /* units 0 .. taken - 1 */
/* The source key of a point that passes, taken or not. */
int plan_source_key(struct plan *plan, int64_t point, char out[HASH_HEX],
                    struct err *err);
/* Restrict the plan to builds: no shape is measured. */
void plan_drop_shapes(struct plan *plan);

int plan_units(const struct plan *plan); /* without the reference; counts unused
                                          * room */
int plan_shapes(const struct plan *plan);
const struct plan_unit *plan_unit(const struct plan *plan, int unit);
const char *plan_shape_name(const struct plan *plan, int shape);
const struct spec_shape *plan_shape(const struct plan *plan, int shape);
/* The gate of the spec that rejects the unit for this shape, or -1. Always -1
 * in a plan of everything that passes. */
int plan_gate(const struct plan *plan, int unit, int shape);
/* The task key: covers shape, arguments, reference and tolerance. */
const char *plan_measure_key(const struct plan *plan, int shape);
void plan_task_key(const struct plan *plan, int unit, int shape,
                   char out[HASH_HEX]);
/* The key of a build by this compiler. */
void plan_build_key(const struct plan *plan, int unit, const char *toolkit,
                    char out[HASH_HEX]);

/* "BLOCK_M=64 STAGES=2", cut to 'size'; "the reference". */
void plan_display(const struct plan *plan, int unit, char *out, size_t size);

int plan_find(const struct plan *plan, const char *config_key); /* or -1 */
int plan_find_shape(const struct plan *plan, const char *name); /* or -1 */

/* The values of a configuration, one a tunable. */
void plan_values(const struct plan *plan, int unit, struct value *values);
/* The parameters and the gates that warn, as JSON; for the caller to free. */
char *plan_params(const struct plan *plan, int unit);
char *plan_warnings(const struct plan *plan, int unit);

#endif
