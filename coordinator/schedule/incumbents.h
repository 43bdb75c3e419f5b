/* incumbents.h - the fastest time so far, one a shape
 *
 * What is much slower need not be measured well.  A measurement is asked for
 * with the incumbent of its shape, and the runner stops early when even the
 * low end of its median lies beyond the margin (common/sampling.h).  Only
 * samples that agree make an incumbent, by the high end of their median.
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_SCHEDULE_INCUMBENTS_H
#define FA_COORDINATOR_SCHEDULE_INCUMBENTS_H

#include <stdbool.h>

#include "common/msg_values.h"

struct incumbents;

struct incumbents *incumbents_new(int n_shapes);
void incumbents_free(struct incumbents *incumbents); /* NULL is fine */

/* Samples of a correct configuration, and the runner's word for them. */
void incumbents_saw(struct incumbents *incumbents, int shape,
                    const struct reals *samples, const char *sampling);
/* Would a median of an earlier run change anything? */
bool incumbents_is_new(const struct incumbents *incumbents, int shape,
                       double median_s, double noise);
/* A median of an earlier run, of samples that agreed within 'noise'. */
void incumbents_remember(struct incumbents *incumbents, int shape,
                         double median_s, double noise);

double incumbents_high_s(const struct incumbents *incumbents, int shape);

#endif
