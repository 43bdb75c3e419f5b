#include "coordinator/search/search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/objective.h"
#include "coordinator/search/strategy.h"
#include "coordinator/search/successive_halving.h"

struct visit {
    int point;   /* -1 outside the domain */
    bool wanted; /* asked for by the strategy, or the baseline */
    bool out;    /* handed out, and the strategy was not told yet */
    int rung;
    double time;                /* value of the objective */
    enum search_step_kind told; /* last told; SEARCH_ASKED: nothing yet */
    enum search_step_kind due;  /* likewise: to be told in its turn */
};

struct search {
    struct search_options options;
    struct strategy *strategy; /* exactly one of these is set */
    struct successive_halving *race;
    struct external_strategy *external;
    int *unit_of; /* [points] the unit plus one, 0 for none */
    struct visit *visits;
    unsigned char *known; /* [units][shapes] enum objective_known */
    double *times;        /* likewise, if they are kept */
    bool keeps_times;     /* the times at all shapes are needed */
    int n, cap;
    int out;
    int *line; /* units in the order they went out; some have been told */
    int line_n, line_at;
    struct search_step *steps;
    size_t steps_n, steps_cap;
};

static size_t row_of(const struct search *search, int unit)
{
    return (size_t)unit * (size_t)search->options.shapes;
}

static int add_unit(struct search *search, int point)
{
    int shapes = search->options.shapes, unit = search->n++;

    if (unit == search->cap) {
        size_t cap = search->cap ? 2 * (size_t)search->cap : 64;

        search->visits = mem_grow(search->visits, cap, sizeof(*search->visits));
        search->known = mem_grow(search->known, cap, (size_t)shapes);
        if (search->keeps_times)
            search->times =
                mem_grow(search->times, cap, (size_t)shapes * sizeof(double));
        search->cap = (int)cap;
    }
    search->visits[unit] = (struct visit){ .point = point };
    for (int shape = 0; shape < shapes; shape++)
        search->known[row_of(search, unit) + (size_t)shape] = OBJECTIVE_OPEN;
    for (int shape = 0; search->times && shape < shapes; shape++)
        search->times[row_of(search, unit) + (size_t)shape] = (double)NAN;
    if (point >= 0)
        search->unit_of[point] = unit + 1;
    return unit;
}

int search_know(struct search *search, int point)
{
    return search->unit_of[point] ? search->unit_of[point] - 1
                                  : add_unit(search, point);
}

static void send_out(struct search *search, int unit, int rung)
{
    struct visit *visit = &search->visits[unit];

    visit->wanted = true;
    visit->rung = rung;
    if (visit->out)
        return;
    visit->out = true;
    visit->due = SEARCH_ASKED;
    search->out++;
    search->line = mem_grow(search->line, (size_t)search->line_n + 1,
                            sizeof(*search->line));
    search->line[search->line_n++] = unit;
}

static void expect(struct search *search, int point)
{
    if (point < 0)
        return;
    if (search->race)
        successive_halving_expect(search->race, point);
    else if (search->external)
        external_strategy_expect(search->external, point);
    else
        strategy_expect(search->strategy, point);
}

int search_new(const struct search_options *options, struct search **out,
               struct err *err)
{
    struct search *search = mem_new(1, sizeof(*search));
    int points = domain_size(options->domain), rc = 0;

    assert(options->shapes >= 1 && !(options->race && options->external) &&
           !(options->race && options->objective == OBJECTIVE_ALL));
    *out = NULL;
    search->options = *options;
    search->external = options->external;
    search->keeps_times =
        options->external || options->objective == OBJECTIVE_ALL;
    if (!search->external)
        rc = strategy_new(options->strategy, options->domain,
                          options->evaluations, options->seed,
                          &search->strategy, err);
    if (rc < 0) {
        search_free(search);
        return rc;
    }
    if (search->strategy)
        strategy_warm(search->strategy, options->prior);
    if (options->race)
        search->race =
            successive_halving_new(&search->strategy, points, options->race);
    search->unit_of = mem_new((size_t)points, sizeof(*search->unit_of));
    send_out(search, add_unit(search, options->baseline), 0);
    expect(search, options->baseline);
    *out = search;
    return 0;
}

void search_free(struct search *search)
{
    if (!search)
        return;
    strategy_free(search->strategy);
    successive_halving_free(search->race);
    external_strategy_stop(search->external);
    free(search->unit_of);
    free(search->visits);
    free(search->line);
    free(search->known);
    free(search->times);
    free(search->steps);
    free(search);
}

int search_ahead(int places, int left)
{
    int most = left / SEARCH_OUT_SHARE;

    if (left <= 0 || places <= most)
        return places;
    return most > 1 || places < 1 ? most : 1;
}

/* Evaluations that a strategy may still ask for; 0 if it does not learn. */
static int left_to_learn(const struct search *search)
{
    struct strategy_state now;

    if (search->external) /* nothing is known of it but what it asked for */
        return search->options.evaluations > search->line_n
                   ? search->options.evaluations - search->line_n
                   : 0;
    search_state(search, &now);
    return now.learns ? now.budget - now.asked : 0;
}

int search_room(const struct search *search, int places)
{
    int most = search->options.in_flight;

    if (most > 0)
        return places < most ? places : most;
    return search_ahead(places, left_to_learn(search));
}

static void note(struct search *search, enum search_step_kind kind, int point,
                 int rung, double time)
{
    if (search->steps_n == search->steps_cap) {
        search->steps_cap = search->steps_cap ? 2 * search->steps_cap : 256;
        search->steps =
            mem_grow(search->steps, search->steps_cap, sizeof(*search->steps));
    }
    search->steps[search->steps_n++] =
        (struct search_step){ kind, point, rung, time };
}

static enum strategy_answer ask(struct search *search,
                                struct successive_halving_ask *out)
{
    *out = (struct successive_halving_ask){ 0 };
    if (search->race)
        return successive_halving_ask(search->race, out);
    return search->external
               ? external_strategy_ask(search->external, &out->point)
               : strategy_ask(search->strategy, &out->point);
}

static void conclude(struct search *search, int unit,
                     enum strategy_outcome outcome, double time);

static enum strategy_outcome outcome_of(enum search_step_kind kind)
{
    return kind == SEARCH_TIMED    ? STRATEGY_TIMED
           : kind == SEARCH_FAILED ? STRATEGY_FAILED
                                   : STRATEGY_LOST;
}

/* Tell the results of the oldest questions, in order, as far as they are
 * known. */
static bool tell_next(struct search *search)
{
    struct visit *visit;
    int unit;

    while (search->line_at < search->line_n &&
           !search->visits[search->line[search->line_at]].out)
        search->line_at++;
    if (search->line_at == search->line_n)
        return false;
    unit = search->line[search->line_at];
    visit = &search->visits[unit];
    if (visit->due == SEARCH_ASKED)
        return false;
    conclude(search, unit, outcome_of(visit->due), visit->time);
    return true;
}

/* With a window, each question is asked with the same results known, whatever
 * order they came in: those of all questions but the last ones, as many as may
 * be out. */
static enum strategy_answer ask_in_turn(struct search *search,
                                        struct successive_halving_ask *asked)
{
    enum strategy_answer answer = STRATEGY_WAIT;

    while (search->out >= search_room(search, search->options.window))
        if (!tell_next(search))
            return STRATEGY_WAIT;
    while ((answer = ask(search, asked)) != STRATEGY_POINT)
        if (!tell_next(search))
            break;
    return answer == STRATEGY_DONE && search->out > 0 ? STRATEGY_WAIT : answer;
}

static enum strategy_answer take(struct search *search,
                                 enum strategy_answer answer,
                                 const struct successive_halving_ask *asked,
                                 struct search_want *out)
{
    if (answer != STRATEGY_POINT)
        return answer;
    *out = (struct search_want){ .unit = search_know(search, asked->point),
                                 .samples = asked->samples,
                                 .rung = asked->rung };
    send_out(search, out->unit, asked->rung);
    note(search, SEARCH_ASKED, asked->point, asked->rung, 0);
    return STRATEGY_POINT;
}

enum strategy_answer search_ask(struct search *search, struct search_want *out)
{
    struct successive_halving_ask asked;
    enum strategy_answer answer = search->options.window > 0
                                      ? ask_in_turn(search, &asked)
                                      : ask(search, &asked);

    return take(search, answer, &asked, out);
}

static void tell(struct search *search, int point,
                 enum strategy_outcome outcome, double time)
{
    if (search->race)
        successive_halving_tell(search->race, point, outcome, time);
    else if (search->external)
        external_strategy_tell(search->external, point, outcome, time,
                               search->times +
                                   row_of(search, search_know(search, point)));
    else
        strategy_tell(search->strategy, point, outcome, time);
}

static enum search_step_kind step_of(enum strategy_outcome outcome)
{
    return outcome == STRATEGY_TIMED    ? SEARCH_TIMED
           : outcome == STRATEGY_FAILED ? SEARCH_FAILED
                                        : SEARCH_LOST;
}

static void conclude(struct search *search, int unit,
                     enum strategy_outcome outcome, double time)
{
    struct visit *visit = &search->visits[unit];

    search->out -= visit->out;
    visit->out = false;
    visit->told = step_of(outcome);
    visit->time = time;
    if (visit->point < 0)
        return;
    tell(search, visit->point, outcome, time);
    note(search, visit->told, visit->point, visit->rung, time);
}

/* What to tell the strategy, from what is known of the shapes; SEARCH_ASKED if
 * there is nothing to tell yet. */
static enum search_step_kind sum_up(struct search *search, int unit)
{
    static const enum search_step_kind kinds[] = {
        [OBJECTIVE_OPEN] = SEARCH_ASKED,
        [OBJECTIVE_TIMED] = SEARCH_TIMED,
        [OBJECTIVE_FAILED] = SEARCH_FAILED,
        [OBJECTIVE_LOST] = SEARCH_LOST,
    };
    const struct search_options *options = &search->options;
    size_t row = row_of(search, unit);
    enum objective_known sum =
        objective_sum(options->objective, search->known + row, options->shapes);

    if (sum == OBJECTIVE_TIMED && options->objective == OBJECTIVE_ALL)
        search->visits[unit].time = objective_time(
            options->objective, search->times + row, options->shapes);
    return kinds[sum];
}

bool search_settle(struct search *search, int unit, int shape,
                   enum strategy_outcome outcome, double time)
{
    struct visit *visit = &search->visits[unit];
    size_t at = row_of(search, unit) + (size_t)shape;
    double before = visit->time;
    enum search_step_kind sum;

    search->known[at] = outcome == STRATEGY_TIMED    ? OBJECTIVE_TIMED
                        : outcome == STRATEGY_FAILED ? OBJECTIVE_FAILED
                                                     : OBJECTIVE_LOST;
    if (search->times)
        search->times[at] = outcome == STRATEGY_TIMED ? time : (double)NAN;
    if (shape == search->options.objective)
        visit->time = time;
    sum = sum_up(search, unit);
    if (sum == SEARCH_ASKED || visit->rung > 0)
        return false;
    if (search->options.window > 0 && visit->out) {
        visit->due = sum; /* told when its turn comes */
        return false;
    }
    if (sum == visit->told && (sum != SEARCH_TIMED || visit->time == before))
        return false;
    conclude(search, unit, outcome_of(sum), visit->time);
    return true;
}

void search_settle_rung(struct search *search, int unit,
                        enum strategy_outcome outcome, double time)
{
    if (search->visits[unit].out)
        conclude(search, unit, outcome, time);
}

int search_units(const struct search *search)
{
    return search->n;
}

int search_point(const struct search *search, int unit)
{
    return search->visits[unit].point;
}

bool search_is_out(const struct search *search, int unit)
{
    return search->visits[unit].out;
}

bool search_is_wanted(const struct search *search, int unit)
{
    return search->visits[unit].wanted;
}

int search_rung(const struct search *search, int unit)
{
    return search->visits[unit].rung;
}

int search_out(const struct search *search)
{
    return search->out;
}

const struct search_step *search_steps(const struct search *search, size_t *n)
{
    *n = search->steps_n;
    return search->steps;
}

/* Was this point asked for before, with this same answer? */
static bool replay_ask(struct search *search, const struct search_step *step)
{
    struct search_want want;
    struct successive_halving_ask asked;

    return !search->external &&
           take(search, ask(search, &asked), &asked, &want) == STRATEGY_POINT &&
           search->visits[want.unit].point == step->point &&
           want.rung == step->rung;
}

static void replay_tell(struct search *search, const struct search_step *step)
{
    int unit = search_know(search, step->point);

    conclude(search, unit, outcome_of(step->kind), step->time);
}

bool search_replay(struct search *search, const struct search_step *steps,
                   size_t n)
{
    bool same = true;

    for (size_t i = 0; i < n; i++) {
        if (steps[i].kind != SEARCH_ASKED) {
            if (same || steps[i].kind != SEARCH_LOST)
                replay_tell(search, &steps[i]);
        } else if (same) {
            same = replay_ask(search, &steps[i]);
        }
    }
    return same;
}

struct external_strategy *search_external(struct search *search)
{
    return search->external;
}

void search_take_over(struct search *search, const char *strategy)
{
    const struct search_options *options = &search->options;
    int rc;

    external_strategy_stop(search->external);
    search->external = NULL;
    rc = strategy_new(strategy, options->domain, options->evaluations,
                      options->seed, &search->strategy, NULL);
    assert(rc == 0); /* our own methods cannot fail */
    strategy_warm(search->strategy, options->prior);
    (void)rc;
    for (size_t i = 0; i < search->steps_n; i++)
        if (search->steps[i].kind != SEARCH_ASKED)
            tell(search, search->steps[i].point,
                 outcome_of(search->steps[i].kind), search->steps[i].time);
    for (int unit = 0; unit < search->n; unit++)
        if (search->visits[unit].out)
            expect(search, search->visits[unit].point);
}

void search_state(const struct search *search, struct strategy_state *out)
{
    if (search->race)
        successive_halving_state(search->race, out);
    else if (search->strategy)
        strategy_state(search->strategy, out);
    else
        *out = (struct strategy_state){ .method = "external", .best = -1 };
}
