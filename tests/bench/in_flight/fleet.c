#include "tests/bench/in_flight/fleet.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/err.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"
#include "tests/bench/evaluations/problem.h"

struct place {
    int point;
    double end_s;
};

struct fleet {
    const struct problem *problem;
    const struct fleet_rules *rules;
    struct strategy *strategy;
    struct place places[FLEET_PLACES_MAX]; /* in the order of the questions */
    int busy;
    double now_s;
    double best_told, best_true;
};

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool has_room(const struct fleet *fleet)
{
    struct strategy_state now;
    int left;

    strategy_state(fleet->strategy, &now);
    left = now.learns && !fleet->rules->full ? now.budget - now.asked : 0;
    return fleet->busy < search_ahead(fleet->rules->in_flight, left);
}

static void fill(struct fleet *fleet)
{
    int point;

    while (has_room(fleet) &&
           strategy_ask(fleet->strategy, &point) == STRATEGY_POINT)
        fleet->places[fleet->busy++] =
            (struct place){ point,
                            fleet->now_s + fleet->problem->seconds[point] };
}

/* The next result: of two at the same instant, the one asked for first. */
static int take_next(struct fleet *fleet)
{
    int next = 0, point;

    for (int i = 1; i < fleet->busy; i++)
        if (fleet->places[i].end_s < fleet->places[next].end_s)
            next = i;
    point = fleet->places[next].point;
    fleet->now_s = fleet->places[next].end_s;
    fleet->busy--;
    for (int i = next; i < fleet->busy; i++)
        fleet->places[i] = fleet->places[i + 1];
    return point;
}

static void tell(struct fleet *fleet, int point)
{
    double time = problem_measured(fleet->problem, point, fleet->rules->seed);

    strategy_tell(fleet->strategy, point,
                  time > 0 ? STRATEGY_TIMED : STRATEGY_FAILED, time);
    if (time > 0 && (fleet->best_told == 0 || time < fleet->best_told)) {
        fleet->best_told = time;
        fleet->best_true = fleet->problem->times[point];
    }
}

void fleet_run(const struct problem *problem, const struct fleet_rules *rules,
               struct fleet_end *out)
{
    struct fleet fleet = { .problem = problem, .rules = rules };
    double began = cpu_now(), found;
    struct err err;

    assert(rules->in_flight >= 1 && rules->in_flight <= FLEET_PLACES_MAX);
    if (strategy_new(rules->strategy, problem->domain, rules->evaluations,
                     rules->seed, &fleet.strategy, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    for (fill(&fleet); fleet.busy > 0; fill(&fleet))
        tell(&fleet, take_next(&fleet));
    strategy_free(fleet.strategy);
    found = fleet.best_told > 0 ? fleet.best_true : problem->worst;
    *out = (struct fleet_end){ .regret = found / problem->best - 1,
                               .seconds = fleet.now_s,
                               .cpu_s = cpu_now() - began };
}
