/* incumbents.h - the fastest time so far at each shape
 *
 * A configuration that is much slower need not be measured precisely.  Each
 * measurement carries the incumbent of its shape.  The runner stops early if
 * even the low end of the interval of the median is beyond the margin
 * (common/sampling.h). Only samples that agree become an incumbent; its time is
 * the high end of the interval of their median.
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_SCHEDULE_INCUMBENTS_H
#define FA_COORDINATOR_SCHEDULE_INCUMBENTS_H

#include <stdbool.h>

#include "common/msg_values.h"

struct incumbents;

struct incumbents *incumbents_new(int n_shapes);
void incumbents_free(struct incumbents *incumbents); /* NULL is fine */

/* Samples of a correct configuration, and whether they agree according to the
 * runner. */
void incumbents_saw(struct incumbents *incumbents, int shape,
                    const struct reals *samples, const char *sampling);
/* Would such a median of an earlier run change an incumbent? */
bool incumbents_is_new(const struct incumbents *incumbents, int shape,
                       double median_s, double noise);
/* A median of an earlier run whose samples agreed within 'noise'. */
void incumbents_remember(struct incumbents *incumbents, int shape,
                         double median_s, double noise);

double incumbents_high_s(const struct incumbents *incumbents, int shape);

#endif
