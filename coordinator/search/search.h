/* search.h - a strategy at work: which unit is wanted next, and what it learns
 *
 * A unit is a configuration that the search has heard of, in that order, so
 * that units of a plan can be made as they come; the baseline is unit 0 and
 * wanted from the start, wherever it lies.  A unit is measured for each shape,
 * and the strategy is told:
 *
 *     failed   as soon as it has failed for any shape
 *     timed    when all shapes are settled: the objective (objective.h)
 *     lost     when they are and what the objective needs was lost
 *
 * It is told again when that is no longer true: what was measured was in doubt,
 * and came out otherwise the second time.
 *
 * All that is asked and told are steps.  They can be replayed: the same steps
 * bring another search to the same state, and it goes on to the same points.
 *
 * Pure, but for a program of somebody else's under it.  One thread; the domain
 * outlives it.
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
    int baseline;  /* its point, -1 outside the domain */
    int shapes;    /* >= 1 */
    int objective; /* a shape, or OBJECTIVE_ALL, but with a race */
    const char *strategy;
    int evaluations; /* 0: as many as there are points */
    uint64_t seed;
    int window; /* > 0: results are told in the order of the questions, of
                 * which so many are out: a seed repeats; not with a race */
    const struct successive_halving_rules *race; /* NULL for none */
    struct external_strategy
        *external; /* asked instead of 'strategy'; taken over */
};

int search_new(const struct search_options *options, struct search **out,
               struct err *err);
void search_free(struct search *search); /* NULL is fine */

/* How many units may be out at once: what keeps 'slots' building, each with one
 * in waiting, and 'measures' in the hands of the GPUs, but never more than a
 * quarter of the evaluations: what is out has not taught yet. */
int search_ahead(int slots, int hosts, int measures, int evaluations);

struct search_want {
    int unit;
    int samples; /* of the objective in all; 0 without a race: as many as usual
                  */
    int rung;    /* 0 is the first time */
};

/* A unit that is wanted; it is out until it is told. */
enum strategy_answer search_ask(struct search *search, struct search_want *out);

/* What became of a unit for a shape, the first time or measured again; true
 * when the strategy was told.  With a window it is told as search_ask() goes.
 */
bool search_settle(struct search *search, int unit, int shape,
                   enum strategy_outcome outcome, double time);
/* What became of a rung above the first: 'time' is over all its samples. */
void search_settle_rung(struct search *search, int unit,
                        enum strategy_outcome outcome, double time);

/* A point of which an earlier run knows something: its unit. */
int search_know(struct search *search, int point);

int search_units(const struct search *search);
int search_point(const struct search *search, int unit); /* -1 outside */
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

/* All so far. */
const struct search_step *search_steps(const struct search *search, size_t *n);
/* To a search that was not asked yet.  Where the strategy asks for something
 * else than it did, what was told is told as known before, and no more. Returns
 * whether it went to the end as it was. */
bool search_replay(struct search *search, const struct search_step *steps,
                   size_t n);

struct external_strategy *search_external(struct search *search); /* or NULL */
/* The program is of no use any more: 'strategy' takes over, with all that was
 * told. */
void search_take_over(struct search *search, const char *strategy);

void search_state(const struct search *search, struct strategy_state *out);

#endif
