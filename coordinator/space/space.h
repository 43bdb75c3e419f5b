/* space.h - the points of a sweep: tunables, gates and their order
 *
 * The space is the product of the tunables, in file order, last one fastest,
 * without the points that a gate rejects for any shape.  Points are numbered
 * before pruning, so a point keeps its number when a gate is added or dropped.
 *
 * With 'only', exactly those points pass, and the gates are ignored.
 *
 * SQLite evaluates all expressions in memory, behind an authorizer, limits and
 * a time limit.  A rule must yield 0 or 1 for every combination of values of
 * the tunables it names.
 * Thread rule: one thread.  The spec outlives the space.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_H
#define FA_COORDINATOR_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/value.h"

struct err;
struct space;

#define SPACE_POINTS_MAX (INT64_C(1) << 62)
#define SPACE_SECONDS_MAX 60 /* time limit of one query */

/* The points that pass, in order.  Borrowed by the space. */
struct space_only {
    const struct value *values; /* n rows with a value for each tunable */
    size_t n;
};

/* Check every expression and prepare the queries.  'device' chooses the shapes
 * ("cpu" or other). 'only' outlives the space; NULL: the gates decide what
 * passes.  Returns 0 and a space for the caller to space_close(), or
 *   ERR_INPUT   a rule is not SQL, has an unknown name, yields something
 *               else than it should, or there are too many points */
int space_open(const struct spec *spec, const struct gpu_arch_facts *facts,
               const char *device, const struct space_only *only,
               struct space **out, struct err *err);
void space_close(struct space *space); /* NULL is fine */

int64_t space_size(const struct space *space); /* before pruning, >= 1 */
const struct spec_shape *space_shapes(const struct space *space, size_t *n);

/* A point that no gate rejects. */
struct space_point {
    int64_t number;  /* in [0, space_size()) */
    uint64_t warned; /* bit g: warn gate g of the spec hits it */
};

/* Go to the next point, in order of number.  Returns 1, or 0 after the last
 * point; then it begins again.  ERR_INPUT if a rule yields neither 0 nor 1, as
 * space_open(). */
int space_next(struct space *space, struct space_point *out, struct err *err);

/* The point of this rank, in [0, points that pass).  ERR_INPUT if the gates do
 * not allow to find it without listing those before it. */
int space_at(struct space *space, int64_t rank, struct space_point *out,
             struct err *err);

/* A subset of the points that pass.  It has each pair of values of two tunables
 * that occurs among them (pairwise_cover.h), in order of number.  The caller
 * frees '*out'. The seed is that of the measurements.  Do not call it while
 * walking with space_next(). */
int space_cover(struct space *space, int64_t **out, size_t *n, struct err *err);
bool space_cover_has(const int64_t *chosen, size_t n, int64_t point);

/* The values of a point; texts belong to the spec. */
void space_values(const struct space *space, int64_t number,
                  struct value *values);
/* The number of a configuration, -1 if it is outside the axes. */
int64_t space_number(const struct space *space, const struct value *values);

/* Does a gate reject this configuration, which may be outside the axes?
 * Returns the index of the first gate that does, SPACE_PASSES or
 * SPACE_ERROR. */
#define SPACE_PASSES (-1)
#define SPACE_ERROR (-2)
int space_rejected_by(struct space *space, const struct value *values,
                      struct err *err);

/* The same for this shape only, which need not be one of the space's. */
int space_rejected_at(struct space *space, const struct value *values,
                      const struct spec_shape *shape, struct err *err);
/* The warn gates that hit it for any shape of the space, one bit each. */
int space_warned_by(struct space *space, const struct value *values,
                    uint64_t *out, struct err *err);
/* The same for a point that passes; faster. */
int space_warned_at(struct space *space, int64_t number, uint64_t *out,
                    struct err *err);

struct space_gate_count {
    int64_t rejected_first; /* by this gate and none before it */
    int64_t rejected_alone; /* by this gate, ignoring the others */
    int64_t warned;         /* points that pass and that a warn gate hits */
};

/* Count for each gate of the spec, in order, and count the points that pass. */
int space_count(struct space *space, struct space_gate_count *gates,
                int64_t *passed, struct err *err);

/* Why no point passes: ERR_INPUT, naming the gate to look at. */
int space_empty_err(const struct space *space,
                    const struct space_gate_count *gates, struct err *err);
#define SPACE_NUMBER_BYTES 32
void space_number_text(int64_t number,
                       char out[SPACE_NUMBER_BYTES]); /* 2,592 */

#endif
