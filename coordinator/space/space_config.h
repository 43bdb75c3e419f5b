/* space_config.h - what the rules of a sweep yield for one configuration
 *
 * The configuration may be outside the axes.  Thread rule: that of the space.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_CONFIG_H
#define FA_COORDINATOR_SPACE_SPACE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/text/value.h"

struct err;
struct space;
struct spec_shape;

/* One value for each derived name; texts are valid until the next call. */
int space_derive(struct space *space, const struct value *values,
                 struct value *derived, struct err *err);

/* Is every derived value a number for all combinations of the tunables it
 * names?  Then space_derive() never fails.  Also false if there are too many
 * combinations to check. */
bool space_derives_numbers(struct space *space);

/* The tunables that derived values, launch and arguments depend on: with other
 * values of the others they are the same. */
uint64_t space_work_axes(const struct space *space);

struct space_launch {
    int64_t grid[3], block[3]; /* >= 1 */
    int64_t smem;              /* bytes */
};

int space_launch(struct space *space, const struct value *values,
                 const struct spec_shape *shape, struct space_launch *out,
                 struct err *err);
int space_reference_launch(struct space *space, const struct spec_shape *shape,
                           struct space_launch *out, struct err *err);

/* One entry for each argument: the elements of a buffer, or a scalar. */
struct space_argument {
    int64_t count;
    int64_t rows, columns; /* the last two dimensions; rows is 1 if there is
                            * only one */
    double scale;          /* of the fill */
    int64_t low, high;     /* of the fills range and sorted, else 0 */
    struct value value;
};

int space_arguments(struct space *space, const struct value *values,
                    const struct spec_shape *shape, struct space_argument *out,
                    struct err *err);

/* A metric; NaN if it has no value for this configuration. */
int space_metric(struct space *space, size_t metric, const struct value *values,
                 const struct spec_shape *shape, double time_s, double *out,
                 struct err *err);
/* Each floor of the spec in seconds; NaN for one without a value. */
int space_floors(struct space *space, const struct spec_shape *shape,
                 double *seconds, struct err *err);
/* The largest floor in seconds and its index in spec->floors; NaN and -1
 * without a floor. */
int space_floor(struct space *space, const struct spec_shape *shape,
                double *seconds, int *floor, struct err *err);

#endif
