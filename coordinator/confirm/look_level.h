/* look_level.h - the level of an interval after the looks of a pass
 *
 * A pass with looks (sequential.h) ends, or drops a candidate, when its results
 * are clear.  So the times of that candidate are those of a lucky moment, and a
 * plain interval of them is too narrow, whatever they are compared with: an
 * external baseline, or another sweep.  An interval with the level of this file
 * holds at all looks together (Lan and DeMets, 1983; spending.h), so it holds
 * whatever made the pass stop.
 *
 * Two passes that stopped by themselves, as those of two sweeps: use the level
 * that is left after the looks of one as the alpha of the other's.  For each
 * look at which the first may stop, all looks of the second together then cost
 * no more than the level of that look.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_LOOK_LEVEL_H
#define FA_COORDINATOR_CONFIRM_LOOK_LEVEL_H

#include <stddef.h>

struct sequential;

/* The two-sided level of an interval of a candidate, so that all its looks
 * together cost at most 'alpha', in (0, 1).  'alpha' itself in a pass without
 * looks, and before the first one: nothing was decided by results. */
double look_level(const struct sequential *looks, size_t candidate,
                  double alpha);

#endif
