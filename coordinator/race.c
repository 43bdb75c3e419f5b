#include "coordinator/race.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"

#define NOT_RACING (-1)

struct runner {
    int rung;     /* that it was last asked for, or NOT_RACING */
    bool pending; /* and not told yet */
};

struct finish {
    int point;
    double time; /* over the samples of its rung */
};

/* Who was told at a rung, fastest first. */
struct rung {
    int samples;
    struct finish *finishes;
    int n, cap;
};

struct race {
    struct strategy *strategy;
    struct race_rules rules;
    struct runner *runners; /* [points] */
    struct rung rungs[RACE_RUNGS_MAX];
    int rungs_n;
    int pending;
};

struct race *race_new(struct strategy **strategy, int points,
                      const struct race_rules *rules)
{
    struct race *race = mem_new(1, sizeof(*race));
    int64_t samples = rules->first;

    assert(rules->first >= 1 && rules->factor >= 2 &&
           rules->most >= rules->first);
    race->strategy = *strategy;
    *strategy = NULL;
    race->rules = *rules;
    race->runners = mem_new((size_t)points, sizeof(*race->runners));
    for (int i = 0; i < points; i++)
        race->runners[i].rung = NOT_RACING;
    while (race->rungs_n < RACE_RUNGS_MAX && samples <= rules->most) {
        race->rungs[race->rungs_n++].samples = (int)samples;
        samples *= rules->factor;
    }
    return race;
}

void race_free(struct race *race)
{
    if (!race)
        return;
    for (int r = 0; r < race->rungs_n; r++)
        free(race->rungs[r].finishes);
    free(race->runners);
    strategy_free(race->strategy);
    free(race);
}

/* A point of rung r that is among its fastest and still there, or -1. */
static int promotable(const struct race *race, int r)
{
    const struct rung *rung = &race->rungs[r];

    for (int i = 0; i < rung->n / race->rules.factor; i++)
        if (race->runners[rung->finishes[i].point].rung == r)
            return rung->finishes[i].point;
    return -1;
}

static void begin(struct race *race, int point, int r, struct race_ask *out)
{
    race->runners[point].rung = r;
    race->runners[point].pending = true;
    race->pending++;
    *out = (struct race_ask){ point, race->rungs[r].samples, r };
}

enum strategy_answer race_ask(struct race *race, struct race_ask *out)
{
    enum strategy_answer answer;
    int point;

    for (int r = race->rungs_n - 2; r >= 0; r--) {
        point = promotable(race, r);
        if (point >= 0) {
            begin(race, point, r + 1, out);
            return STRATEGY_POINT;
        }
    }
    answer = strategy_ask(race->strategy, &point);
    if (answer == STRATEGY_POINT)
        begin(race, point, 0, out);
    else if (answer == STRATEGY_DONE && race->pending > 0)
        answer = STRATEGY_WAIT;
    return answer;
}

void race_expect(struct race *race, int point)
{
    strategy_expect(race->strategy, point);
}

static void rank(struct rung *rung, int point, double time)
{
    int i = rung->n++;

    if (i == rung->cap) {
        rung->cap = 2 * rung->cap + 16;
        rung->finishes = mem_grow(rung->finishes, (size_t)rung->cap,
                                  sizeof(*rung->finishes));
    }
    for (; i > 0 && rung->finishes[i - 1].time > time; i--)
        rung->finishes[i] = rung->finishes[i - 1];
    rung->finishes[i] = (struct finish){ point, time };
}

/* Told before on this rung: it leaves its place there. */
static void unrank(struct rung *rung, int point)
{
    int i = 0;

    while (i < rung->n && rung->finishes[i].point != point)
        i++;
    if (i == rung->n)
        return;
    rung->n--;
    for (; i < rung->n; i++)
        rung->finishes[i] = rung->finishes[i + 1];
}

void race_tell(struct race *race, int point, enum strategy_outcome outcome,
               double time)
{
    struct runner *runner = &race->runners[point];
    bool lost = outcome == STRATEGY_LOST;

    if (!lost || runner->rung <= 0) /* else what it ran before still holds */
        strategy_tell(race->strategy, point, outcome, time);
    if (runner->rung == NOT_RACING)
        return; /* of an earlier run */
    race->pending -= runner->pending;
    runner->pending = false;
    unrank(&race->rungs[runner->rung], point);
    if (outcome == STRATEGY_TIMED)
        rank(&race->rungs[runner->rung], point, time);
}

void race_state(const struct race *race, struct strategy_state *out)
{
    strategy_state(race->strategy, out);
}
