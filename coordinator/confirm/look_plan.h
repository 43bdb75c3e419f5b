/* look_plan.h - when a confirmation is looked at while its blocks come
 *
 * If the rule is against an external baseline, the looks ask about that one:
 * it is the candidate after the others.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_LOOK_PLAN_H
#define FA_COORDINATOR_CONFIRM_LOOK_PLAN_H

#include "coordinator/confirm/confirmation.h"

struct sequential_design;

/* Set 'looks' as asked, with a cap that can show anything among so many
 * candidates.  They, the rules and 'against' are there. */
void look_plan_set(struct confirmation *confirmation,
                   const struct confirmation_looks *asked);

/* What the looks of a confirmation are to decide, by its first 'candidates';
 * with looks against an external baseline, that is number 'candidates'. */
void look_plan_design(const struct confirmation *confirmation,
                      size_t candidates, struct sequential_design *out);

/* So many blocks are complete before the results decide anything; INT_MAX if
 * there are no looks. */
int look_plan_first(const struct confirmation *confirmation);

/* A race that is wrong once in 1,000 launches is seen in so many with a
 * probability of 95 %: 1 - 0.999^3000. */
#define LOOK_PLAN_LAUNCHES 3000

/* How many launches of each candidate are to be checked at each shape, on a
 * GPU; 0 for a bench, which names none. */
int look_plan_launches(const struct confirmation *confirmation);

/* How many launches a measurement adds that are only checked, so that each
 * candidate has look_plan_launches() before one is named. */
int look_plan_repeats(const struct confirmation *confirmation);

/* Those of the baseline, whose launch takes 'baseline_s', if that of the
 * fastest finalist takes 'fastest_s' (NAN: not known): none but a fast baseline
 * can be named, so a slow one is given the time that the fastest finalist
 * takes. */
int look_plan_baseline_repeats(int repeats, double baseline_s,
                               double fastest_s);

#endif
