/* plan.h - the units of a sweep and everything a worker must know of them
 *
 * A unit is a configuration that passed the gates: the baseline comes first,
 * wherever it lies, then those that no gate warns of, then those that one does,
 * each in the order of their points.  The unit after the last one is the
 * reference.  A unit has a config key (its parameters), a source key (what
 * a build of it is made from) and, for each shape, a task key (what its result
 * is for: sources, shape, arguments, reference and tolerance).  An old result
 * holds exactly when the task key is the same.
 *
 * A plan may be asked for other configurations and other shapes instead.  These
 * need not pass the gates: plan_gate() tells what is not to be run.
 *
 * A plan for a search begins with the baseline alone and has room for more,
 * which are taken one by one; what nobody has taken has no key, and costs next
 * to nothing.
 * Immutable, but for what is taken; the spec and the space outlive it.
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

/* What a plan is about; NULL stands for the baseline and all that pass, for
 * the shapes of the space.  All of it outlives the plan. */
struct plan_ask {
    const struct config_selection *choice;
    const struct spec_shape *shapes;
    size_t n_shapes;
};

struct plan_unit {
    char key[HASH_HEX]; /* of the parameters; "" for the reference */
    char source_key[HASH_HEX];
    int64_t point;   /* before pruning; -1 outside the axes */
    uint64_t warned; /* bit g: warn gate g of the spec is hit */
    bool baseline;
    const struct value *values; /* outside the axes, else NULL */
};

/* 'device' is cuda or cpu, 'arch' what to build for (sm_89, cpu).
 * ERR_INPUT when a gate or an expression is wrong, a source cannot be read,
 * or nothing passes the gates. */
int plan_make(const struct spec *spec, struct space *space,
              const struct plan_ask *ask, const char *device, const char *arch,
              struct plan **out, struct err *err);
/* With room for so many units, the baseline among them. */
int plan_make_open(const struct spec *spec, struct space *space, int room,
                   const char *device, const char *arch, struct plan **out,
                   struct err *err);
void plan_free(struct plan *plan);
/* Take a point that passes; there is room.  Its unit, or ERR_INPUT. */
int plan_take(struct plan *plan, int64_t point, struct err *err);
int plan_taken(const struct plan *plan); /* units 0 .. taken - 1 */
/* The source key that a point that passes has, or would have. */
int plan_source_key(struct plan *plan, int64_t point, char out[HASH_HEX],
                    struct err *err);
/* Builds alone: no shape is left to measure. */
void plan_drop_shapes(struct plan *plan);

int plan_units(const struct plan *plan); /* without the reference, with room */
int plan_shapes(const struct plan *plan);
const struct plan_unit *plan_unit(const struct plan *plan, int unit);
const char *plan_shape_name(const struct plan *plan, int shape);
const struct spec_shape *plan_shape(const struct plan *plan, int shape);
/* The gate of the spec that rejects the unit for this shape, or -1; never one
 * in a plan of all that passes. */
int plan_gate(const struct plan *plan, int unit, int shape);
/* Covers shape, arguments, reference and tolerance. */
const char *plan_measure_key(const struct plan *plan, int shape);
void plan_task_key(const struct plan *plan, int unit, int shape,
                   char out[HASH_HEX]);
/* A build by this compiler. */
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
