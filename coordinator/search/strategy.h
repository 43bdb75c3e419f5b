/* strategy.h - which configuration to try next
 *
 * Ask and tell, asynchronously: a sweep asks whenever a slot is free and tells
 * each result as it comes, in any order.  A point that was handed out and has
 * no result yet is pending.  No point is handed out twice, and the methods that
 * learn take pending points into account.
 *
 *     while (a slot is free) {
 *         answer = strategy_ask(strategy, &point);
 *         STRATEGY_POINT  start 'point'
 *         STRATEGY_WAIT   ask again after the next tell
 *         STRATEGY_DONE   there are no more points
 *     }
 *
 * Pure: no clock, no file; the same seed, asks and tells give the same points.
 * Thread rule: one thread.  The domain outlives the strategy.
 */
#ifndef FA_COORDINATOR_SEARCH_STRATEGY_H
#define FA_COORDINATOR_SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct domain;
struct err;
struct strategy;

/* 'text' is a method, or methods with the number of evaluations each gets, as
 * in "lhs:20,tpe:100"; the last may have no number and gets the rest of
 * 'budget' evaluations (0: as many as there are points). Each method knows what
 * the earlier ones learnt.  docs/strategies.md has the methods.  ERR_INPUT says
 * what is wrong with 'text'. */
int strategy_new(const char *text, const struct domain *domain, int budget,
                 uint64_t seed, struct strategy **out, struct err *err);
void strategy_free(struct strategy *strategy); /* NULL is fine */

/* Check 'text'. Returns how many evaluations it asks for, 0 if its last method
 * takes the rest, or ERR_INPUT. */
int strategy_evaluations(const char *text, struct err *err);

/* Whether one of the methods of a correct text asks by what it was told. */
bool strategy_learns(const char *text);

/* What another search taught: [points] the logarithm of an expected time, in
 * any unit, or NAN.  Its fastest points are asked for first, and a method may
 * use the others.  Borrowed; call it before the first ask. */
void strategy_warm(struct strategy *strategy, const double *prior);

enum strategy_answer {
    STRATEGY_POINT,
    STRATEGY_WAIT,
    STRATEGY_DONE
};

enum strategy_answer strategy_ask(struct strategy *strategy, int *point);

/* The point is already being measured, although it was not asked for: its
 * result will come. */
void strategy_expect(struct strategy *strategy, int point);

enum strategy_outcome {
    STRATEGY_TIMED,
    STRATEGY_FAILED, /* rejected, or does not build, launch, finish or compute
                      * the right answer */
    STRATEGY_LOST,   /* no result for other reasons: it counts, but teaches
                      * nothing */
};

/* 'time' is for a timed point: finite, > 0, in any unit.  A point that was
 * never asked for is accepted (a result of an earlier run) and counts as an
 * evaluation.  If a point is told twice, the last outcome replaces the first,
 * which was in doubt. */
void strategy_tell(struct strategy *strategy, int point,
                   enum strategy_outcome outcome, double time);

struct strategy_state {
    const char *method; /* the current method; "" when done */
    bool learns;        /* its next question depends on results */
    int asked;          /* evaluations handed out or told */
    int budget;
    int pending, timed, failed;
    int best; /* the fastest point, or -1 */
    double best_time;
};

void strategy_state(const struct strategy *strategy,
                    struct strategy_state *out);

/* One line for each method: its name and what it does. */
void strategy_list(FILE *to);

#endif
