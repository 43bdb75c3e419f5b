/* The rungs of a race above the first: orders that measure the objective again.
 */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/passes/search_internal.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/stats/stats.h"

/* A unit that waits on a rung. */
struct climber {
    int unit;
    int64_t order; /* 0: not ordered */
    int tries;
};

struct halving {
    struct climber *climbers;
    size_t n;
    int turn; /* of the GPUs */
};

void halving_want(struct search_pass *search, int unit)
{
    struct halving *race = search->race;

    if (!race)
        race = search->race = mem_new(1, sizeof(*race));
    race->climbers =
        mem_grow(race->climbers, race->n + 1, sizeof(*race->climbers));
    race->climbers[race->n++] = (struct climber){ .unit = unit };
}

void halving_free(struct halving *race)
{
    if (!race)
        return;
    free(race->climbers);
    free(race);
}

/* The connected and trusted GPU number 'n'; false if there are fewer. */
static bool find_gpu(const struct sweep *sweep, int n,
                     struct sched_order *order)
{
    for (size_t host = 0; host < sweep->fleet.n; host++) {
        const struct host_state *host_state = &sweep->fleet.hosts[host];

        for (int gpu = 0;
             host_state->state == HOST_STATE_READY && gpu < host_state->n_gpus;
             gpu++) {
            if (host_state->is_lost || pass_bans(sweep, host, gpu) || n-- > 0)
                continue;
            order->host = (int)host;
            order->gpu = gpu;
            return true;
        }
    }
    return false;
}

static bool find_next_gpu(const struct sweep *sweep, struct halving *race,
                          struct sched_order *order)
{
    if (find_gpu(sweep, race->turn++, order))
        return true;
    race->turn = 1;
    return find_gpu(sweep, 0, order);
}

static void place(struct sweep *sweep, const struct search_pass *search,
                  struct climber *climber)
{
    struct sched_order order = {
        .unit = climber->unit,
        .shape = search->objective,
        .purpose = SCHED_AGAIN,
        .pass = search->pass,
        .round = SWEEP_RUNG_ROUNDS * search_rung(search->search, climber->unit),
    };

    if (!find_next_gpu(sweep, search->race, &order))
        return;
    climber->order = orders_place(sweep, &order);
    climber->tries++;
}

static void settle(struct sweep *sweep, struct search_pass *search, size_t i,
                   enum strategy_outcome outcome, double time)
{
    struct halving *race = search->race;
    int unit = race->climbers[i].unit;

    race->climbers[i] = race->climbers[--race->n];
    search_state_settle_rung(sweep, search, unit, outcome, time);
}

int halving_waits_for(const struct sweep *sweep,
                      const struct search_pass *search, pass_wait_fn *tell,
                      void *arg)
{
    const struct halving *race = search->race;
    struct sched_order order;
    bool is_gpu_here = find_gpu(sweep, 0, &order);

    for (size_t i = 0; race && i < race->n; i++) {
        struct pass_wait wait = { .what = "a rung of the race",
                                  .unit = race->climbers[i].unit,
                                  .order = race->climbers[i].order };

        if (wait.order)
            wait.end = PASS_WAIT_ORDER;
        else if (!is_gpu_here)
            wait.end = PASS_WAIT_HOST;
        else { /* the next turn orders it or gives it up */
            wait.end = PASS_WAIT_TIME;
            wait.until_ns = reactor_now(sweep);
        }
        tell(arg, &wait);
    }
    return race ? (int)race->n : 0;
}

void halving_give_up(struct sweep *sweep, struct search_pass *search)
{
    struct halving *race = search->race;

    for (size_t i = race ? race->n : 0; i-- > 0;)
        if (!race->climbers[i].order &&
            race->climbers[i].tries >= sweep->reactor.options->attempts)
            settle(sweep, search, i, STRATEGY_LOST, 0);
}

void halving_order(struct sweep *sweep, struct search_pass *search)
{
    struct halving *race = search->race;

    for (size_t i = race ? race->n : 0; i-- > 0;)
        if (!race->climbers[i].order &&
            race->climbers[i].tries < sweep->reactor.options->attempts)
            place(sweep, search, &race->climbers[i]);
}

void halving_ended(struct sweep *sweep, struct search_pass *search,
                   const struct sched_lease *lease, const struct msg *result)
{
    struct halving *race = search->race;
    const struct msg_measured *measured;
    struct summary times;
    size_t i = 0;

    while (race && i < race->n && race->climbers[i].order != lease->order)
        i++;
    if (!race || i == race->n)
        return;
    race->climbers[i].order = 0;
    if (!result)
        return; /* the next turn finds another GPU */
    measured = &result->measured;
    if (!outcome_is(measured->result.outcome, OUTCOME_CORRECT) ||
        measured->samples.n == 0) {
        settle(sweep, search, i, STRATEGY_FAILED, 0);
        return;
    }
    stats_summary(measured->samples.items, measured->samples.n, &times);
    settle(sweep, search, i, STRATEGY_TIMED, times.median);
}

int halving_samples(const struct sweep *sweep, const struct sched_lease *lease)
{
    const struct successive_halving_rules *rules;
    int samples;

    if ((lease->purpose != SCHED_SCREEN && lease->purpose != SCHED_AGAIN) ||
        sweep->reactor.options->search_settings->race.first == 0)
        return 0;
    rules = &sweep->reactor.options->search_settings->race;
    samples = rules->first;
    for (int rung = lease->round / SWEEP_RUNG_ROUNDS; rung > 0; rung--)
        samples *= rules->factor;
    return samples;
}
