/* quest.h - a strategy at work: which unit is wanted next, and what it learns
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
#ifndef FA_COORDINATOR_QUEST_H
#define FA_COORDINATOR_QUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/race.h"
#include "coordinator/strategy.h"

struct domain;
struct err;
struct external;
struct quest;

struct quest_options {
    const struct domain *domain;
    int baseline;  /* its point, -1 outside the domain */
    int shapes;    /* >= 1 */
    int objective; /* a shape, or OBJECTIVE_ALL, but with a race */
    const char *strategy;
    int evaluations; /* 0: as many as there are points */
    uint64_t seed;
    int window; /* > 0: results are told in the order of the questions, of
                 * which so many are out: a seed repeats; not with a race */
    const struct race_rules *race; /* NULL for none */
    struct external *external;     /* asked instead of 'strategy'; taken over */
};

int quest_new(const struct quest_options *options, struct quest **out,
              struct err *err);
void quest_free(struct quest *quest); /* NULL is fine */

/* How many units may be out at once: what keeps 'slots' building, each with one
 * in waiting, and 'measures' in the hands of the GPUs, but never more than a
 * quarter of the evaluations: what is out has not taught yet. */
int quest_ahead(int slots, int hosts, int measures, int evaluations);

struct quest_want {
    int unit;
    int samples; /* of the objective in all; 0 without a race: as many as usual
                  */
    int rung;    /* 0 is the first time */
};

/* A unit that is wanted; it is out until it is told. */
enum strategy_answer quest_ask(struct quest *quest, struct quest_want *out);

/* What became of a unit for a shape, the first time or measured again; true
 * when the strategy was told.  With a window it is told as quest_ask() goes. */
bool quest_settle(struct quest *quest, int unit, int shape,
                  enum strategy_outcome outcome, double time);
/* What became of a rung above the first: 'time' is over all its samples. */
void quest_settle_rung(struct quest *quest, int unit,
                       enum strategy_outcome outcome, double time);

/* A point of which an earlier run knows something: its unit. */
int quest_know(struct quest *quest, int point);

int quest_units(const struct quest *quest);
int quest_point(const struct quest *quest, int unit); /* -1 outside */
bool quest_is_out(const struct quest *quest, int unit);
int quest_rung(const struct quest *quest, int unit);
int quest_out(const struct quest *quest);                  /* how many are */
bool quest_is_wanted(const struct quest *quest, int unit); /* ever */

enum quest_step_kind {
    QUEST_ASKED,
    QUEST_TIMED,
    QUEST_FAILED,
    QUEST_LOST
};

struct quest_step {
    enum quest_step_kind kind;
    int point;
    int rung;
    double time; /* of QUEST_TIMED */
};

/* All so far. */
const struct quest_step *quest_steps(const struct quest *quest, size_t *n);
/* To a search that was not asked yet.  Where the strategy asks for something
 * else than it did, what was told is told as known before, and no more. Returns
 * whether it went to the end as it was. */
bool quest_replay(struct quest *quest, const struct quest_step *steps,
                  size_t n);

struct external *quest_external(struct quest *quest); /* or NULL */
/* The program is of no use any more: 'strategy' takes over, with all that was
 * told. */
void quest_take_over(struct quest *quest, const char *strategy);

void quest_state(const struct quest *quest, struct strategy_state *out);

#endif
