/* A block becomes orders, step by step, the external baseline among them. */
#include "coordinator/sweep_contest_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/prng.h"

void sweep_block_forget(struct card *card)
{
    free(card->steps);
    free(card->orders);
    card->steps = NULL;
    card->orders = NULL;
    card->block = card->n = card->next = 0;
}

void sweep_block_break(struct sweep *sweep, struct card *card)
{
    struct sweep_contest *c = sweep->contest;

    log_line(LOG_W, "BLOCK-DROPPED", "pass=%lld block=%d gpu=%s",
             (long long)c->is->pass, card->block, card->uuid);
    for (int i = 0; i < card->n; i++)
        if (card->orders[i])
            sched_order_cancel(sweep->sched, card->orders[i]);
    sweep_external_broken(sweep, (int)contest_round(c->is, card->block));
    confirm_broken(c->confirm, card->block);
    sweep_block_forget(card);
}

/* False when the order cannot be made. */
static bool order_step(struct sweep *sweep, struct card *card, int i)
{
    struct sweep_contest *c = sweep->contest;
    const struct confirm_step *step = &card->steps[i];

    card->orders[i] =
        sweep_order(sweep, &(struct sched_order){
                               .unit = c->units[step->contestant],
                               .shape = step->shape,
                               .host = card->host,
                               .gpu = card->gpu,
                               .purpose = SCHED_CONFIRM,
                               .round = (int)contest_round(c->is, card->block),
                               .fresh = i == 0,
                           });
    return card->orders[i] != 0;
}

/* The external baseline goes before this step: one drawn among those of its
 * shape. */
static bool external_is_next(const struct sweep_contest *c,
                             const struct card *card, int i)
{
    int shape = card->steps[i].shape, from = i, to = i;
    struct prng prng;

    while (from > 0 && card->steps[from - 1].shape == shape)
        from--;
    while (to < card->n && card->steps[to].shape == shape)
        to++;
    prng_init(&prng, (uint64_t)c->is->seed ^ (uint64_t)card->block << 16 ^
                         (uint64_t)shape << 40);
    return i == from + (int)prng_below(&prng, (uint64_t)(to - from));
}

void sweep_block_begin(struct sweep *sweep, const struct confirm_block *block)
{
    struct card *card = &sweep->contest->cards[block->gpu];
    size_t n = (size_t)block->n;

    card->block = block->number;
    card->n = block->n;
    card->steps = mem_new(n, sizeof(*card->steps));
    card->orders = mem_new(n, sizeof(*card->orders));
    memcpy(card->steps, block->steps, n * sizeof(*card->steps));
    card->next = 0;
    card->met = false;
    card->joins = ERRANDS_LATER;
}

/* False: the step waits until the external baseline has run, or may. */
static bool meet_external(struct sweep *sweep, struct card *card)
{
    const struct sweep_contest *c = sweep->contest;
    int shape = card->steps[card->next].shape;
    int round = (int)contest_round(c->is, card->block);

    if (card->joins == ERRANDS_LATER)
        card->joins = sweep_external_joins(sweep, card->host, round, shape);
    if (card->joins == ERRANDS_YES && !card->met &&
        external_is_next(c, card, card->next)) {
        enum errands_answer answer =
            sweep_external_ask(sweep, card->host, shape);

        card->met = answer != ERRANDS_LATER;
        if (answer == ERRANDS_YES)
            sweep_external_order(sweep, card->host, card->gpu, shape, round);
        else if (answer == ERRANDS_LATER)
            return false;
    }
    return card->joins != ERRANDS_LATER && !sweep_external_runs(sweep, round);
}

/* What follows a run of the external baseline waits for its result: nothing
 * else could run on the GPU anyway, and no other run is handed out before it is
 * known how this one ended. */
void sweep_block_go_on(struct sweep *sweep, struct card *card)
{
    struct sweep_contest *c = sweep->contest;

    if (card->next < card->n &&
        sweep_canary_bans(sweep, (size_t)card->host, card->gpu)) {
        sweep_block_break(sweep, card);
        return;
    }
    for (; card->next < card->n; card->next++, card->met = false) {
        int contestant = card->steps[card->next].contestant;

        if (!meet_external(sweep, card))
            return;
        if (order_step(sweep, card, card->next))
            continue;
        if (sched_job(sweep->sched, JOB_BUILD, c->units[contestant], 0)
                ->state == JOB_FAILED)
            sweep_contest_out(sweep, contestant,
                              "it could not be built once more");
        sweep_block_break(sweep, card);
        return;
    }
}
