/* search.h - a strategy at work: which unit is wanted next, and what it learns
 *
 * A unit is a configuration that the search has used.  Units are numbered in
 * the order of first use, so that the units of a plan can be made as they come.
 * The baseline is unit 0 and wanted from the start, even outside the axes.  A
 * unit is measured for each shape, and the strategy is told:
 *
 *     failed   as soon as it has failed for any shape
 *     timed    when all shapes are settled: the objective (objective.h)
 *     lost     when they are and what the objective needs was lost
 *
 * It is told again if that changes: a measurement in doubt was repeated, and
 * the second result differs.
 *
 * Each question and each result is a step.  Steps can be replayed: the same
 * steps bring another search to the same state, and it continues with the same
 * points.
 *
 * Pure, except with an external strategy.  One thread; the domain outlives it.
 */
#ifndef FA_COORDINATOR_SEARCH_SEARCH_H
#define FA_COORDINATOR_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/search/strategy.h"
#include "coordinator/search/successive_halving.h"

struct domain;
struct err;
struct external_strategy;
struct search;

struct search_options {
    const struct domain *domain;
    int baseline;  /* the point of the baseline, -1 outside the domain */
    int shapes;    /* >= 1 */
    int objective; /* a shape, or OBJECTIVE_ALL, which a race does not allow */
    const char *strategy;
    int evaluations; /* 0: as many as there are points */
    uint64_t seed;
    int in_flight; /* most units out at once; 0: search_ahead() */
    int window;    /* > 0: results are told in the order of the questions, and
                    * a seed repeats; so many places; not with a race */
    const struct successive_halving_rules *race; /* NULL for none */
    struct external_strategy *external; /* instead of 'strategy'; owned */
    const double *prior;                /* of strategy_warm(), or NULL */
};

int search_new(const struct search_options *options, struct search **out,
               struct err *err);
void search_free(struct search *search); /* NULL is fine */

/* How many units may be out at once, if that many places are to be busy: at
 * most one in so many of the evaluations left, because a unit that is out has
 * taught nothing yet.  'left' is 0 for a strategy that does not learn. */
#define SEARCH_OUT_SHARE 6 /* docs/strategies.md: what it costs */
int search_ahead(int places, int left);
int search_room(const struct search *search, int places); /* now */

struct search_want {
    int unit;
    int samples; /* in total, for the objective; 0 without a race */
    int rung;    /* 0: the first time */
};

/* A unit to build and measure; it is out until the strategy is told. */
enum strategy_answer search_ask(struct search *search, struct search_want *out);

/* The result of a unit at a shape, new or repeated.  Returns true if the
 * strategy was told.  With a window, results are told as search_ask() proceeds.
 */
bool search_settle(struct search *search, int unit, int shape,
                   enum strategy_outcome outcome, double time);
/* The result of a rung above the first: 'time' is over all its samples. */
void search_settle_rung(struct search *search, int unit,
                        enum strategy_outcome outcome, double time);

/* The unit of a point about which an earlier run knows something. */
int search_know(struct search *search, int point);

int search_units(const struct search *search);
int search_point(const struct search *search, int unit); /* -1: outside */
bool search_is_out(const struct search *search, int unit);
int search_rung(const struct search *search, int unit);
int search_out(const struct search *search);                  /* how many are */
bool search_is_wanted(const struct search *search, int unit); /* ever */

enum search_step_kind {
    SEARCH_ASKED,
    SEARCH_TIMED,
    SEARCH_FAILED,
    SEARCH_LOST
};

struct search_step {
    enum search_step_kind kind;
    int point;
    int rung;
    double time; /* of SEARCH_TIMED */
};

/* All steps so far. */
const struct search_step *search_steps(const struct search *search, size_t *n);
/* Replay steps into a search that was not asked yet.  If the strategy asks for
 * something else than it did then, the remaining results are told as already
 * known.  Returns whether all steps were replayed as they were. */
bool search_replay(struct search *search, const struct search_step *steps,
                   size_t n);

struct external_strategy *search_external(struct search *search); /* or NULL */
/* The external program cannot be used any more: 'strategy' takes over, and
 * learns everything told so far. */
void search_take_over(struct search *search, const char *strategy);

void search_state(const struct search *search, struct strategy_state *out);

#endif
