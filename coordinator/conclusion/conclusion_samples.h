/* conclusion_samples.h - the samples of a confirmation at a shape, or over all
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_SAMPLES_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_SAMPLES_H

#include <stddef.h>

#include "coordinator/confirm/blocks.h"

/* One sample of a block. */
struct conclusion_sample {
    size_t shape; /* its index in the confirmation */
    struct block_sample sample;
};

struct conclusion_scope {
    int at; /* the index of a shape, or OBJECTIVE_ALL (objective.h) */
    size_t n_candidates, n_shapes; /* of the samples */
};

/* The samples at a shape.  Over all shapes, a candidate has one sample a block:
 * the geometric mean of its medians there.  A block that lacks it at a shape
 * has none of it.
 * samples  [n], each block's together
 * out      room for 'n'; returns how many there are */
size_t conclusion_samples_at(const struct conclusion_sample *samples, size_t n,
                             const struct conclusion_scope *scope,
                             struct block_sample *out);

#endif
