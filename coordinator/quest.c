#include "coordinator/quest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/external.h"
#include "coordinator/objective.h"

#define OUT_SHARE 4 /* of the evaluations, one in so many is out at most */

struct visit {
    int point;   /* -1 outside the domain */
    bool wanted; /* asked for, or the baseline */
    bool out;    /* and not told yet */
    int rung;
    double time;               /* by the objective */
    enum quest_step_kind told; /* QUEST_ASKED: nothing yet */
    enum quest_step_kind due;  /* likewise: to be told in its turn */
};

struct quest {
    struct quest_options options;
    struct strategy *strategy; /* one of these */
    struct race *race;
    struct external *external;
    int *unit_of; /* [points] the unit and one, 0 for none */
    struct visit *visits;
    unsigned char *known; /* [units][shapes] enum objective_known */
    double *times;        /* likewise, when they are kept */
    bool keeps_times;     /* somebody needs those of all shapes */
    int n, cap;
    int out;
    int *line; /* units in the order they went out; some are told */
    int line_n, line_at;
    struct quest_step *steps;
    size_t steps_n, steps_cap;
};

static size_t row_of(const struct quest *quest, int unit)
{
    return (size_t)unit * (size_t)quest->options.shapes;
}

static int add_unit(struct quest *quest, int point)
{
    int shapes = quest->options.shapes, unit = quest->n++;

    if (unit == quest->cap) {
        size_t cap = quest->cap ? 2 * (size_t)quest->cap : 64;

        quest->visits = mem_grow(quest->visits, cap, sizeof(*quest->visits));
        quest->known = mem_grow(quest->known, cap, (size_t)shapes);
        if (quest->keeps_times)
            quest->times =
                mem_grow(quest->times, cap, (size_t)shapes * sizeof(double));
        quest->cap = (int)cap;
    }
    quest->visits[unit] = (struct visit){ .point = point };
    for (int shape = 0; shape < shapes; shape++)
        quest->known[row_of(quest, unit) + (size_t)shape] = OBJECTIVE_OPEN;
    for (int shape = 0; quest->times && shape < shapes; shape++)
        quest->times[row_of(quest, unit) + (size_t)shape] = (double)NAN;
    if (point >= 0)
        quest->unit_of[point] = unit + 1;
    return unit;
}

int quest_know(struct quest *quest, int point)
{
    return quest->unit_of[point] ? quest->unit_of[point] - 1
                                 : add_unit(quest, point);
}

static void send_out(struct quest *quest, int unit, int rung)
{
    struct visit *visit = &quest->visits[unit];

    visit->wanted = true;
    visit->rung = rung;
    if (visit->out)
        return;
    visit->out = true;
    visit->due = QUEST_ASKED;
    quest->out++;
    quest->line =
        mem_grow(quest->line, (size_t)quest->line_n + 1, sizeof(*quest->line));
    quest->line[quest->line_n++] = unit;
}

static void expect(struct quest *quest, int point)
{
    if (point < 0)
        return;
    if (quest->race)
        race_expect(quest->race, point);
    else if (quest->external)
        external_expect(quest->external, point);
    else
        strategy_expect(quest->strategy, point);
}

int quest_new(const struct quest_options *options, struct quest **out,
              struct err *err)
{
    struct quest *quest = mem_new(1, sizeof(*quest));
    int points = domain_size(options->domain), rc = 0;

    assert(options->shapes >= 1 && !(options->race && options->external) &&
           !(options->race && options->objective == OBJECTIVE_ALL));
    *out = NULL;
    quest->options = *options;
    quest->external = options->external;
    quest->keeps_times =
        options->external || options->objective == OBJECTIVE_ALL;
    if (!quest->external)
        rc = strategy_new(options->strategy, options->domain,
                          options->evaluations, options->seed, &quest->strategy,
                          err);
    if (rc < 0) {
        quest_free(quest);
        return rc;
    }
    if (options->race)
        quest->race = race_new(&quest->strategy, points, options->race);
    quest->unit_of = mem_new((size_t)points, sizeof(*quest->unit_of));
    send_out(quest, add_unit(quest, options->baseline), 0);
    expect(quest, options->baseline);
    *out = quest;
    return 0;
}

void quest_free(struct quest *quest)
{
    if (!quest)
        return;
    strategy_free(quest->strategy);
    race_free(quest->race);
    external_stop(quest->external);
    free(quest->unit_of);
    free(quest->visits);
    free(quest->line);
    free(quest->known);
    free(quest->times);
    free(quest->steps);
    free(quest);
}

int quest_ahead(int slots, int hosts, int measures, int evaluations)
{
    int most = evaluations / OUT_SHARE, ahead = slots + hosts + measures;

    if (most < 1)
        most = 1;
    return ahead < most ? ahead : most;
}

static void note(struct quest *quest, enum quest_step_kind kind, int point,
                 int rung, double time)
{
    if (quest->steps_n == quest->steps_cap) {
        quest->steps_cap = quest->steps_cap ? 2 * quest->steps_cap : 256;
        quest->steps =
            mem_grow(quest->steps, quest->steps_cap, sizeof(*quest->steps));
    }
    quest->steps[quest->steps_n++] =
        (struct quest_step){ kind, point, rung, time };
}

static enum strategy_answer ask(struct quest *quest, struct race_ask *out)
{
    *out = (struct race_ask){ 0 };
    if (quest->race)
        return race_ask(quest->race, out);
    return quest->external ? external_ask(quest->external, &out->point)
                           : strategy_ask(quest->strategy, &out->point);
}

static void conclude(struct quest *quest, int unit,
                     enum strategy_outcome outcome, double time);

static enum strategy_outcome outcome_of(enum quest_step_kind kind)
{
    return kind == QUEST_TIMED    ? STRATEGY_TIMED
           : kind == QUEST_FAILED ? STRATEGY_FAILED
                                  : STRATEGY_LOST;
}

/* What was asked for first is told, if it has come to something. */
static bool tell_next(struct quest *quest)
{
    struct visit *visit;
    int unit;

    while (quest->line_at < quest->line_n &&
           !quest->visits[quest->line[quest->line_at]].out)
        quest->line_at++;
    if (quest->line_at == quest->line_n)
        return false;
    unit = quest->line[quest->line_at];
    visit = &quest->visits[unit];
    if (visit->due == QUEST_ASKED)
        return false;
    conclude(quest, unit, outcome_of(visit->due), visit->time);
    return true;
}

/* In a window each question is asked with the same results known, whenever
 * they came: those of all but the last that were asked. */
static enum strategy_answer ask_in_turn(struct quest *quest,
                                        struct race_ask *asked)
{
    enum strategy_answer answer = STRATEGY_WAIT;

    while (quest->out >= quest->options.window)
        if (!tell_next(quest))
            return STRATEGY_WAIT;
    while ((answer = ask(quest, asked)) != STRATEGY_POINT)
        if (!tell_next(quest))
            break;
    return answer == STRATEGY_DONE && quest->out > 0 ? STRATEGY_WAIT : answer;
}

static enum strategy_answer take(struct quest *quest,
                                 enum strategy_answer answer,
                                 const struct race_ask *asked,
                                 struct quest_want *out)
{
    if (answer != STRATEGY_POINT)
        return answer;
    *out = (struct quest_want){ .unit = quest_know(quest, asked->point),
                                .samples = asked->samples,
                                .rung = asked->rung };
    send_out(quest, out->unit, asked->rung);
    note(quest, QUEST_ASKED, asked->point, asked->rung, 0);
    return STRATEGY_POINT;
}

enum strategy_answer quest_ask(struct quest *quest, struct quest_want *out)
{
    struct race_ask asked;
    enum strategy_answer answer = quest->options.window > 0
                                      ? ask_in_turn(quest, &asked)
                                      : ask(quest, &asked);

    return take(quest, answer, &asked, out);
}

static void tell(struct quest *quest, int point, enum strategy_outcome outcome,
                 double time)
{
    if (quest->race)
        race_tell(quest->race, point, outcome, time);
    else if (quest->external)
        external_tell(quest->external, point, outcome, time,
                      quest->times + row_of(quest, quest_know(quest, point)));
    else
        strategy_tell(quest->strategy, point, outcome, time);
}

static enum quest_step_kind step_of(enum strategy_outcome outcome)
{
    return outcome == STRATEGY_TIMED    ? QUEST_TIMED
           : outcome == STRATEGY_FAILED ? QUEST_FAILED
                                        : QUEST_LOST;
}

static void conclude(struct quest *quest, int unit,
                     enum strategy_outcome outcome, double time)
{
    struct visit *visit = &quest->visits[unit];

    quest->out -= visit->out;
    visit->out = false;
    visit->told = step_of(outcome);
    visit->time = time;
    if (visit->point < 0)
        return;
    tell(quest, visit->point, outcome, time);
    note(quest, visit->told, visit->point, visit->rung, time);
}

/* What the strategy is to be told by what is known of the shapes; QUEST_ASKED
 * while that is nothing. */
static enum quest_step_kind sum_up(struct quest *quest, int unit)
{
    static const enum quest_step_kind kinds[] = {
        [OBJECTIVE_OPEN] = QUEST_ASKED,
        [OBJECTIVE_TIMED] = QUEST_TIMED,
        [OBJECTIVE_FAILED] = QUEST_FAILED,
        [OBJECTIVE_LOST] = QUEST_LOST,
    };
    const struct quest_options *options = &quest->options;
    size_t row = row_of(quest, unit);
    enum objective_known sum =
        objective_sum(options->objective, quest->known + row, options->shapes);

    if (sum == OBJECTIVE_TIMED && options->objective == OBJECTIVE_ALL)
        quest->visits[unit].time = objective_time(
            options->objective, quest->times + row, options->shapes);
    return kinds[sum];
}

bool quest_settle(struct quest *quest, int unit, int shape,
                  enum strategy_outcome outcome, double time)
{
    struct visit *visit = &quest->visits[unit];
    size_t at = row_of(quest, unit) + (size_t)shape;
    double before = visit->time;
    enum quest_step_kind sum;

    quest->known[at] = outcome == STRATEGY_TIMED    ? OBJECTIVE_TIMED
                       : outcome == STRATEGY_FAILED ? OBJECTIVE_FAILED
                                                    : OBJECTIVE_LOST;
    if (quest->times)
        quest->times[at] = outcome == STRATEGY_TIMED ? time : (double)NAN;
    if (shape == quest->options.objective)
        visit->time = time;
    sum = sum_up(quest, unit);
    if (sum == QUEST_ASKED || visit->rung > 0)
        return false;
    if (quest->options.window > 0 && visit->out) {
        visit->due = sum; /* it is told when its turn comes */
        return false;
    }
    if (sum == visit->told && (sum != QUEST_TIMED || visit->time == before))
        return false;
    conclude(quest, unit, outcome_of(sum), visit->time);
    return true;
}

void quest_settle_rung(struct quest *quest, int unit,
                       enum strategy_outcome outcome, double time)
{
    if (quest->visits[unit].out)
        conclude(quest, unit, outcome, time);
}

int quest_units(const struct quest *quest)
{
    return quest->n;
}

int quest_point(const struct quest *quest, int unit)
{
    return quest->visits[unit].point;
}

bool quest_is_out(const struct quest *quest, int unit)
{
    return quest->visits[unit].out;
}

bool quest_is_wanted(const struct quest *quest, int unit)
{
    return quest->visits[unit].wanted;
}

int quest_rung(const struct quest *quest, int unit)
{
    return quest->visits[unit].rung;
}

int quest_out(const struct quest *quest)
{
    return quest->out;
}

const struct quest_step *quest_steps(const struct quest *quest, size_t *n)
{
    *n = quest->steps_n;
    return quest->steps;
}

/* It was asked for and answered with this very point. */
static bool replay_ask(struct quest *quest, const struct quest_step *step)
{
    struct quest_want want;
    struct race_ask asked;

    return !quest->external &&
           take(quest, ask(quest, &asked), &asked, &want) == STRATEGY_POINT &&
           quest->visits[want.unit].point == step->point &&
           want.rung == step->rung;
}

static void replay_tell(struct quest *quest, const struct quest_step *step)
{
    int unit = quest_know(quest, step->point);

    conclude(quest, unit, outcome_of(step->kind), step->time);
}

bool quest_replay(struct quest *quest, const struct quest_step *steps, size_t n)
{
    bool same = true;

    for (size_t i = 0; i < n; i++) {
        if (steps[i].kind != QUEST_ASKED) {
            if (same || steps[i].kind != QUEST_LOST)
                replay_tell(quest, &steps[i]);
        } else if (same) {
            same = replay_ask(quest, &steps[i]);
        }
    }
    return same;
}

struct external *quest_external(struct quest *quest)
{
    return quest->external;
}

void quest_take_over(struct quest *quest, const char *strategy)
{
    const struct quest_options *options = &quest->options;
    int rc;

    external_stop(quest->external);
    quest->external = NULL;
    rc = strategy_new(strategy, options->domain, options->evaluations,
                      options->seed, &quest->strategy, NULL);
    assert(rc == 0); /* one of ours */
    (void)rc;
    for (size_t i = 0; i < quest->steps_n; i++)
        if (quest->steps[i].kind != QUEST_ASKED)
            tell(quest, quest->steps[i].point, outcome_of(quest->steps[i].kind),
                 quest->steps[i].time);
    for (int unit = 0; unit < quest->n; unit++)
        if (quest->visits[unit].out)
            expect(quest, quest->visits[unit].point);
}

void quest_state(const struct quest *quest, struct strategy_state *out)
{
    if (quest->race)
        race_state(quest->race, out);
    else if (quest->strategy)
        strategy_state(quest->strategy, out);
    else
        *out = (struct strategy_state){ .method = "external", .best = -1 };
}
