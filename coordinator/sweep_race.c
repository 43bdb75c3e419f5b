/* The rungs of a race above the first: the objective once more, by orders. */
#include "coordinator/sweep_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/stats.h"
#include "coordinator/terms.h"

/* A unit that is wanted on a rung. */
struct climber {
    int unit;
    int64_t order; /* 0: no GPU has it */
    int tries;
};

struct sweep_race {
    struct climber *climbers;
    size_t n;
    int turn; /* of the GPUs */
};

void sweep_race_want(struct sweep *sweep, int unit)
{
    struct sweep_race *race = sweep->race;

    if (!race)
        race = sweep->race = mem_new(1, sizeof(*race));
    race->climbers =
        mem_grow(race->climbers, race->n + 1, sizeof(*race->climbers));
    race->climbers[race->n++] = (struct climber){ .unit = unit };
}

void sweep_race_free(struct sweep *sweep)
{
    if (!sweep->race)
        return;
    free(sweep->race->climbers);
    free(sweep->race);
}

/* GPU number 'n' of those that are here and believed; false when there are
 * fewer. */
static bool find_gpu(const struct sweep *sweep, int n,
                     struct sched_order *order)
{
    for (size_t host = 0; host < sweep->n_boxes; host++) {
        const struct box *box = &sweep->boxes[host];

        for (int gpu = 0; box->state == BOX_READY && gpu < box->n_gpus; gpu++) {
            if (box->is_lost || sweep_canary_bans(sweep, host, gpu) || n-- > 0)
                continue;
            order->host = (int)host;
            order->gpu = gpu;
            return true;
        }
    }
    return false;
}

static bool find_next_gpu(struct sweep *sweep, struct sched_order *order)
{
    struct sweep_race *race = sweep->race;

    if (find_gpu(sweep, race->turn++, order))
        return true;
    race->turn = 1;
    return find_gpu(sweep, 0, order);
}

static void place(struct sweep *sweep, struct climber *climber)
{
    struct sched_order order = {
        .unit = climber->unit,
        .shape = sweep_search_shape(sweep),
        .purpose = SCHED_AGAIN,
        .round = SWEEP_RUNG_ROUNDS * sweep_search_rung(sweep, climber->unit),
    };

    if (!find_next_gpu(sweep, &order))
        return;
    climber->order = sweep_order(sweep, &order);
    climber->tries++;
}

static void settle(struct sweep *sweep, size_t i, enum strategy_outcome outcome,
                   double time)
{
    struct sweep_race *race = sweep->race;
    int unit = race->climbers[i].unit;

    race->climbers[i] = race->climbers[--race->n];
    sweep_search_settle_rung(sweep, unit, outcome, time);
}

void sweep_race_turn(struct sweep *sweep)
{
    struct sweep_race *race = sweep->race;

    for (size_t i = race ? race->n : 0; i-- > 0;) {
        if (race->climbers[i].order)
            continue;
        if (race->climbers[i].tries >= sweep->options->attempts)
            settle(sweep, i, STRATEGY_LOST, 0);
        else
            place(sweep, &race->climbers[i]);
    }
}

bool sweep_race_ended(struct sweep *sweep, const struct sched_lease *lease,
                      const struct msg *result)
{
    struct sweep_race *race = sweep->race;
    struct summary times;
    size_t i = 0;

    while (race && i < race->n && race->climbers[i].order != lease->order)
        i++;
    if (!race || i == race->n)
        return false;
    race->climbers[i].order = 0;
    if (!result)
        return true; /* the next turn finds another GPU */
    if (strcmp(result->outcome, "correct") != 0 || result->samples.n == 0) {
        settle(sweep, i, STRATEGY_FAILED, 0);
        return true;
    }
    stats_summary(result->samples.items, result->samples.n, &times);
    settle(sweep, i, STRATEGY_TIMED, times.median);
    return true;
}

int sweep_race_samples(const struct sweep *sweep,
                       const struct sched_lease *lease)
{
    const struct race_rules *rules;
    int samples;

    if (!sweep->search || sweep->options->terms->race.first == 0)
        return 0;
    rules = &sweep->options->terms->race;
    samples = rules->first;
    for (int rung = lease->round / SWEEP_RUNG_ROUNDS; rung > 0; rung--)
        samples *= rules->factor;
    return samples;
}
