#include "coordinator/estimate/estimate_fleet.h"

#include <math.h>
#include <string.h>

/* One more machine must be worth so much. */
#define LEAST_GAIN 0.005

static bool is_priced(const struct estimate_problem *problem)
{
    for (size_t i = 0; i < problem->n; i++)
        if (!problem->machines[i].has_rate)
            return false;
    return true;
}

static double score(const struct estimate_problem *problem,
                    enum estimate_goal goal, struct estimate_fleet *fleet)
{
    estimate_make(problem, fleet->counts, &fleet->estimate);
    return goal == ESTIMATE_CHEAPEST ? fleet->estimate.usd.likely
                                     : fleet->estimate.wall_s.likely;
}

/* Add the machine that makes it best, until none makes it better. */
static double grow(const struct estimate_problem *problem,
                   enum estimate_goal goal, struct estimate_fleet *fleet)
{
    double now = score(problem, goal, fleet);

    for (;;) {
        double best = now;
        size_t which = problem->n;

        for (size_t i = 0; i < problem->n; i++) {
            double with;

            if (fleet->counts[i] == problem->machines[i].count)
                continue;
            fleet->counts[i]++;
            with = score(problem, goal, fleet);
            fleet->counts[i]--;
            if (with < best) {
                best = with;
                which = i;
            }
        }
        if (which == problem->n || !(best < now * (1 - LEAST_GAIN)))
            break;
        fleet->counts[which]++;
        now = best;
    }
    return score(problem, goal, fleet);
}

/* From these two kinds on, which may be one. */
static void try_from(const struct estimate_problem *problem,
                     enum estimate_goal goal, size_t a, size_t b, double *best,
                     struct estimate_fleet *out)
{
    struct estimate_fleet fleet = { .counts = { 0 } };
    double got;

    fleet.counts[a] = fleet.counts[b] = 1;
    if (!isfinite(score(problem, goal, &fleet)))
        return;
    got = grow(problem, goal, &fleet);
    if (got < *best) {
        *best = got;
        *out = fleet;
    }
}

bool estimate_fleet_choose(const struct estimate_problem *problem,
                           enum estimate_goal goal, struct estimate_fleet *out)
{
    double best = (double)INFINITY;

    if (problem->n > ESTIMATE_FLEET_KINDS ||
        (goal == ESTIMATE_CHEAPEST && !is_priced(problem)))
        return false;
    for (size_t a = 0; a < problem->n; a++)
        for (size_t b = a; b < problem->n; b++)
            try_from(problem, goal, a, b, &best, out);
    return isfinite(best);
}

bool estimate_fleet_add_builder(const struct estimate_problem *problem,
                                const int *counts, struct estimate *out)
{
    struct estimate_machine machines[ESTIMATE_FLEET_KINDS + 1];
    int with[ESTIMATE_FLEET_KINDS + 1];
    struct estimate_problem more = *problem;
    double slots = ESTIMATE_FLEET_BUILDER_SLOTS;

    if (problem->n > ESTIMATE_FLEET_KINDS)
        return false;
    memcpy(machines, problem->machines, problem->n * sizeof(*machines));
    for (size_t i = 0; i < problem->n; i++)
        with[i] = counts ? counts[i] : machines[i].count;
    machines[problem->n] = (struct estimate_machine){
        .name = "",
        .count = 1,
        .slots = { slots, slots, slots },
        .has_rate = true,
        .rate = ESTIMATE_FLEET_BUILDER_USD_PER_HOUR,
    };
    with[problem->n] = 1;
    more.machines = machines;
    more.n++;
    estimate_make(&more, with, out);
    return true;
}
