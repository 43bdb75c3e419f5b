/* strategy.h - which configuration to try next
 *
 * Ask and tell, asynchronously: a sweep asks whenever a slot is free and tells
 * each result as it comes, in any order.  A point that was handed out and not
 * told yet is pending; it is never handed out again, and the methods that
 * learn take it into account.
 *
 *     while (a slot is free) {
 *         answer = strategy_ask(strategy, &point);
 *         STRATEGY_POINT  start 'point'
 *         STRATEGY_WAIT   ask again after the next tell
 *         STRATEGY_DONE   nothing more will come
 *     }
 *
 * Pure: no clock, no file; the same seed, asks and tells give the same points.
 * Thread rule: one thread.  The domain outlives the strategy.
 */
#ifndef FA_COORDINATOR_SEARCH_STRATEGY_H
#define FA_COORDINATOR_SEARCH_STRATEGY_H

#include <stdint.h>
#include <stdio.h>

struct domain;
struct err;
struct strategy;

/* 'text' is a method, or methods with the number of evaluations each gets,
 * as in "lhs:20,tpe:100"; the last may go without a number and gets what is
 * left of 'budget' evaluations (0: as many as there are points).  Each method
 * knows what the ones before it learnt.  docs/strategies.md has the methods.
 * ERR_INPUT says what is wrong in 'text'. */
int strategy_new(const char *text, const struct domain *domain, int budget,
                 uint64_t seed, struct strategy **out, struct err *err);
void strategy_free(struct strategy *strategy); /* NULL is fine */

/* Is 'text' written right?  How many evaluations it asks for by itself, 0 when
 * its last method takes what is left; or ERR_INPUT. */
int strategy_evaluations(const char *text, struct err *err);

enum strategy_answer {
    STRATEGY_POINT,
    STRATEGY_WAIT,
    STRATEGY_DONE
};

enum strategy_answer strategy_ask(struct strategy *strategy, int *point);

/* The point is at work without having been asked for: its result will come. */
void strategy_expect(struct strategy *strategy, int point);

enum strategy_outcome {
    STRATEGY_TIMED,
    STRATEGY_FAILED, /* rejected, or does not build, launch, compute or end */
    STRATEGY_LOST,   /* the machinery never learnt: counts, teaches nothing */
};

/* 'time' is of a timed point: finite, > 0, in any unit.  A point that was
 * never asked for is accepted (a result of an earlier run) and counts as an
 * evaluation.  A point told twice has the outcome told last, in all that the
 * methods have learnt: the first was in doubt. */
void strategy_tell(struct strategy *strategy, int point,
                   enum strategy_outcome outcome, double time);

struct strategy_state {
    const char *method; /* whose turn it is; "" when done */
    int asked;          /* evaluations handed out or told */
    int budget;
    int pending, timed, failed;
    int best; /* the fastest point, or -1 */
    double best_time;
};

void strategy_state(const struct strategy *strategy,
                    struct strategy_state *out);

/* One line a method: its name and what it does. */
void strategy_list(FILE *to);

#endif
