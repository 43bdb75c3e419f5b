/* race.h - few samples for all, more for those that lead
 *
 * Successive halving over any strategy, asynchronously: a point begins with
 * 'first' samples; of the points told at a rung, the fastest one in 'factor'
 * are promoted to the next, which has 'factor' times the samples, up to
 * 'most'.  Promotions come before new points.  The strategy learns the time of
 * the highest rung a point has reached.
 *
 *     rung 0:  first          samples each
 *     rung 1:  first * factor          1 / factor of them
 *     rung 2:  first * factor^2        1 / factor^2 of them  ...
 *
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_RACE_H
#define FA_COORDINATOR_RACE_H

#include "coordinator/strategy.h"

struct race;

#define RACE_RUNGS_MAX 10

struct race_rules {
    int first;  /* samples of a new point, >= 1 */
    int factor; /* >= 2 */
    int most;   /* samples of the last rung at most, >= first */
};

/* Takes the strategy over, which was not asked yet. */
struct race *race_new(struct strategy **strategy, int points,
                      const struct race_rules *rules);
void race_free(struct race *race); /* NULL is fine */

struct race_ask {
    int point;
    int samples; /* in all: those of lower rungs count */
    int rung;
};

/* As strategy_ask(); done when the strategy is and nothing is pending that
 * could still promote a point. */
enum strategy_answer race_ask(struct race *race, struct race_ask *out);
/* As strategy_expect(); it does not race. */
void race_expect(struct race *race, int point);
/* 'time' is over all samples of the point so far.  What is told again takes
 * the place of what was told, also on its rung; who went on from there stays
 * where it is. */
void race_tell(struct race *race, int point, enum strategy_outcome outcome,
               double time);

void race_state(const struct race *race, struct strategy_state *out);

#endif
