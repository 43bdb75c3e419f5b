/* successive_halving.h - few samples for every point, more for the fastest
 *
 * Successive halving over any strategy, asynchronously: a point begins with
 * 'first' samples.  The fastest 1 / 'factor' of the points with a result on a
 * rung are promoted to the next, which has 'factor' times the samples, up to
 * 'most'. Promotions come before new points.  The strategy learns the time of
 * the highest rung a point has reached.
 *
 *     rung 0:  first          samples each
 *     rung 1:  first * factor          1 / factor of them
 *     rung 2:  first * factor^2        1 / factor^2 of them  ...
 *
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_SEARCH_SUCCESSIVE_HALVING_H
#define FA_COORDINATOR_SEARCH_SUCCESSIVE_HALVING_H

#include "coordinator/search/halving_rules.h"
#include "coordinator/search/strategy.h"

struct successive_halving;

#define SUCCESSIVE_HALVING_RUNGS_MAX 10

/* Takes ownership of the strategy, which must not have been asked yet. */
struct successive_halving *
successive_halving_new(struct strategy **strategy, int points,
                       const struct successive_halving_rules *rules);
void successive_halving_free(
    struct successive_halving *halving); /* NULL is fine */

struct successive_halving_ask {
    int point;
    int samples; /* in total, including those of lower rungs */
    int rung;
};

/* As strategy_ask(). Done when the strategy is done and no pending result could
 * still lead to a promotion. */
enum strategy_answer successive_halving_ask(struct successive_halving *halving,
                                            struct successive_halving_ask *out);
/* As strategy_expect(). The point does not race. */
void successive_halving_expect(struct successive_halving *halving, int point);
/* 'time' is over all samples of the point so far.  A repeated result replaces
 * the earlier one, also on its rung.  Points that were promoted stay
 * promoted. */
void successive_halving_tell(struct successive_halving *halving, int point,
                             enum strategy_outcome outcome, double time);

void successive_halving_state(const struct successive_halving *halving,
                              struct strategy_state *out);

#endif
