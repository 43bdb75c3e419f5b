/* The steps of a block become orders, with the external baselines among
 * them. */
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/external_runs.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/stats/prng.h"

void confirmation_block_forget(struct card *card)
{
    free(card->steps);
    free(card->orders);
    card->steps = NULL;
    card->orders = NULL;
    card->block = card->n = card->next = 0;
}

void confirmation_block_break(struct sweep *sweep, struct confirmation_pass *c,
                              struct card *card)
{
    log_line(LOG_W, "BLOCK-DROPPED", "pass=%lld block=%d gpu=%s",
             (long long)c->is->pass, card->block, card->uuid);
    for (int i = 0; i < card->n; i++)
        if (card->orders[i])
            sched_order_cancel(sweep->work.sched, card->orders[i]);
    external_runs_broken(sweep, c, (int)confirmation_round(c->is, card->block));
    block_schedule_broken(c->confirm, card->block);
    confirmation_block_forget(card);
}

/* False if the order cannot be made. */
static bool order_step(struct sweep *sweep, struct confirmation_pass *c,
                       struct card *card, int i)
{
    const struct block_schedule_step *step = &card->steps[i];

    card->orders[i] = orders_place(
        sweep, &(struct sched_order){
                   .unit = c->units[step->candidate],
                   .shape = step->shape,
                   .host = card->host,
                   .gpu = card->gpu,
                   .purpose = SCHED_CONFIRM,
                   .pass = c->pass,
                   .round = (int)confirmation_round(c->is, card->block),
                   .fresh = i == 0,
               });
    return card->orders[i] != 0;
}

/* Does the external baseline 'which' go before step i?  Its step is drawn among
 * those of the shape. */
static bool external_is_next(const struct confirmation_pass *c,
                             const struct card *card, size_t which, int i)
{
    int shape = card->steps[i].shape, from = i, to = i;
    struct prng prng;

    while (from > 0 && card->steps[from - 1].shape == shape)
        from--;
    while (to < card->n && card->steps[to].shape == shape)
        to++;
    prng_init(&prng, (uint64_t)c->is->seed ^ (uint64_t)card->block << 16 ^
                         (uint64_t)shape << 40 ^ (uint64_t)which << 56);
    return i == from + (int)prng_below(&prng, (uint64_t)(to - from));
}

void confirmation_block_begin(struct confirmation_pass *c,
                              const struct block_schedule_block *block,
                              int64_t now)
{
    struct card *card = &c->cards[block->gpu];
    size_t n = (size_t)block->n;

    card->block = block->number;
    card->began_ns = now;
    card->n = block->n;
    card->steps = mem_new(n, sizeof(*card->steps));
    card->orders = mem_new(n, sizeof(*card->orders));
    memcpy(card->steps, block->steps, n * sizeof(*card->steps));
    card->next = 0;
    for (size_t i = 0; i < external_runs_count(c); i++)
        card->externals[i] =
            (struct card_external){ .joins = EXTERNAL_SCHEDULE_LATER };
}

/* False: it is not known yet which external baselines take part. */
static bool externals_joined(struct confirmation_pass *c, struct card *card)
{
    int round = (int)confirmation_round(c->is, card->block);
    bool known = true;

    for (size_t i = 0; i < external_runs_count(c); i++) {
        struct card_external *external = &card->externals[i];

        if (external->joins == EXTERNAL_SCHEDULE_LATER)
            external->joins = external_runs_joins(
                c, i, card->host, round, card->steps[card->next].shape);
        known = known && external->joins != EXTERNAL_SCHEDULE_LATER;
    }
    return known;
}

/* Order this one if it goes before the next step.  False: it is to wait. */
static bool meet_external(struct sweep *sweep, struct confirmation_pass *c,
                          struct card *card, size_t which)
{
    struct card_external *external = &card->externals[which];
    int shape = card->steps[card->next].shape;
    enum external_schedule_answer answer;

    if (external->joins != EXTERNAL_SCHEDULE_YES || external->met ||
        !external_is_next(c, card, which, card->next))
        return true;
    answer = external_runs_ask(c, which, card->host, shape);
    external->met = answer != EXTERNAL_SCHEDULE_LATER;
    if (answer == EXTERNAL_SCHEDULE_YES)
        external_runs_order(sweep, c, which, card, shape);
    return external->met;
}

/* False: the step waits until an external baseline has run, or may run.  Of
 * those with the same place, another one begins in each block. */
static bool meet_externals(struct sweep *sweep, struct confirmation_pass *c,
                           struct card *card)
{
    int round = (int)confirmation_round(c->is, card->block);
    size_t n = external_runs_count(c);

    if (!externals_joined(c, card))
        return false;
    for (size_t i = 0; i < n && !external_runs_runs(c, round); i++)
        if (!meet_external(sweep, c, card, (i + (size_t)card->block) % n))
            return false;
    return !external_runs_runs(c, round);
}

static void go_past_step(const struct confirmation_pass *c, struct card *card)
{
    card->next++;
    for (size_t i = 0; i < external_runs_count(c); i++)
        card->externals[i].met = false;
}

/* The steps after a run of an external baseline wait for its result.  The GPU
 * is busy meanwhile, and no other run is handed out before the outcome of this
 * one is known. */
void confirmation_block_go_on(struct sweep *sweep, struct confirmation_pass *c,
                              struct card *card)
{
    if (card->next < card->n &&
        pass_bans(sweep, (size_t)card->host, card->gpu)) {
        confirmation_block_break(sweep, c, card);
        return;
    }
    for (; card->next < card->n; go_past_step(c, card)) {
        int candidate = card->steps[card->next].candidate;

        if (!meet_externals(sweep, c, card))
            return;
        if (order_step(sweep, c, card, card->next))
            continue;
        if (sched_job(sweep->work.sched, JOB_BUILD, c->units[candidate], 0)
                ->state == JOB_FAILED)
            confirmation_state_out(sweep, c, candidate,
                                   "it could not be built once more");
        confirmation_block_break(sweep, c, card);
        return;
    }
}
