#include "coordinator/search/successive_halving.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"

#define NOT_RACING (-1)

struct runner {
    int rung;     /* the last rung it was asked for, or NOT_RACING */
    bool pending; /* it has no result yet */
};

struct finish {
    int point;
    double time; /* over all samples of its rung */
};

/* The points with a result on a rung, fastest first. */
struct rung {
    int samples;
    struct finish *finishes;
    int n, cap;
};

struct successive_halving {
    struct strategy *strategy;
    struct successive_halving_rules rules;
    struct runner *runners; /* [points] */
    struct rung rungs[SUCCESSIVE_HALVING_RUNGS_MAX];
    int rungs_n;
    int pending;
};

struct successive_halving *
successive_halving_new(struct strategy **strategy, int points,
                       const struct successive_halving_rules *rules)
{
    struct successive_halving *halving = mem_new(1, sizeof(*halving));
    int64_t samples = rules->first;

    assert(rules->first >= 1 && rules->factor >= 2 &&
           rules->most >= rules->first);
    halving->strategy = *strategy;
    *strategy = NULL;
    halving->rules = *rules;
    halving->runners = mem_new((size_t)points, sizeof(*halving->runners));
    for (int i = 0; i < points; i++)
        halving->runners[i].rung = NOT_RACING;
    while (halving->rungs_n < SUCCESSIVE_HALVING_RUNGS_MAX &&
           samples <= rules->most) {
        halving->rungs[halving->rungs_n++].samples = (int)samples;
        samples *= rules->factor;
    }
    return halving;
}

void successive_halving_free(struct successive_halving *halving)
{
    if (!halving)
        return;
    for (int r = 0; r < halving->rungs_n; r++)
        free(halving->rungs[r].finishes);
    free(halving->runners);
    strategy_free(halving->strategy);
    free(halving);
}

/* A point of rung r that is fast enough for promotion and still on r, or -1. */
static int promotable(const struct successive_halving *halving, int r)
{
    const struct rung *rung = &halving->rungs[r];

    for (int i = 0; i < rung->n / halving->rules.factor; i++)
        if (halving->runners[rung->finishes[i].point].rung == r)
            return rung->finishes[i].point;
    return -1;
}

static void begin(struct successive_halving *halving, int point, int r,
                  struct successive_halving_ask *out)
{
    halving->runners[point].rung = r;
    halving->runners[point].pending = true;
    halving->pending++;
    *out =
        (struct successive_halving_ask){ point, halving->rungs[r].samples, r };
}

enum strategy_answer successive_halving_ask(struct successive_halving *halving,
                                            struct successive_halving_ask *out)
{
    enum strategy_answer answer;
    int point;

    for (int r = halving->rungs_n - 2; r >= 0; r--) {
        point = promotable(halving, r);
        if (point >= 0) {
            begin(halving, point, r + 1, out);
            return STRATEGY_POINT;
        }
    }
    answer = strategy_ask(halving->strategy, &point);
    if (answer == STRATEGY_POINT)
        begin(halving, point, 0, out);
    else if (answer == STRATEGY_DONE && halving->pending > 0)
        answer = STRATEGY_WAIT;
    return answer;
}

void successive_halving_expect(struct successive_halving *halving, int point)
{
    strategy_expect(halving->strategy, point);
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

/* It has a result on this rung already: remove it from its place. */
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

void successive_halving_tell(struct successive_halving *halving, int point,
                             enum strategy_outcome outcome, double time)
{
    struct runner *runner = &halving->runners[point];
    bool lost = outcome == STRATEGY_LOST;

    if (!lost || runner->rung <= 0) /* else its lower result stands */
        strategy_tell(halving->strategy, point, outcome, time);
    if (runner->rung == NOT_RACING)
        return; /* a result of an earlier run */
    halving->pending -= runner->pending;
    runner->pending = false;
    unrank(&halving->rungs[runner->rung], point);
    if (outcome == STRATEGY_TIMED)
        rank(&halving->rungs[runner->rung], point, time);
}

void successive_halving_state(const struct successive_halving *halving,
                              struct strategy_state *out)
{
    strategy_state(halving->strategy, out);
}
