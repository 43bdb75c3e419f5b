/* landscape_prior.h - what another landscape says of the points of a domain
 *
 * Of another GPU, version or shape.  Tunables and values are found by name; so
 * a point is expected to be as fast as the recorded one with the same values.
 * Tunables that only the domain has make no difference; of those that only the
 * landscape has, the fastest configuration's value is taken.
 * Pure.
 */
#ifndef FA_COORDINATOR_REPLAY_LANDSCAPE_PRIOR_H
#define FA_COORDINATOR_REPLAY_LANDSCAPE_PRIOR_H

#include <stddef.h>

struct buf;
struct domain;
struct external_strategy_tunable;
struct landscape;

/* [points of the domain] the logarithm of the recorded time, NAN where it is
 * not known; the caller frees it.  'known' counts the others.  The names of
 * tunables that only one of the two has are put into 'odd', with blanks between
 * them, if it is not NULL. */
double *landscape_prior(const struct landscape *land,
                        const struct domain *domain,
                        const struct external_strategy_tunable *tunables,
                        int *known, struct buf *odd);

#endif
