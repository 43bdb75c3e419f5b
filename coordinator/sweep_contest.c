/* A contest in the reactor: its blocks become orders, and what comes of these
 * becomes blocks that count. */
#include "coordinator/sweep_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/prng.h"
#include "coordinator/confirm.h"
#include "coordinator/contest.h"

/* At least so many blocks on each GPU: an interval of its own is finite. */
#define GPU_BLOCKS 5
/* Blocks are dealt over the GPUs there are; hosts of the file get so long. */
#define ARRIVAL_NS (5 * NS_PER_S)

struct card {
    char uuid[128];
    int host, gpu; /* where it was last seen; -1: not in this run */
    int block;     /* that runs on it, 0 none */
    int n;
    struct confirm_step *steps;
    int64_t *orders; /* of each step; 0: not made yet */
    int next;        /* step to be ordered */
    bool met;        /* the external baseline had its chance before that step */
    enum errands_answer joins; /* does it take part? */
};

struct sweep_contest {
    struct contest *is;
    struct confirm *confirm;
    struct card *cards; /* their index is the number for 'confirm' */
    int n_cards;
    int *units; /* of the contestants that run */
    int done;   /* measurements in complete blocks and the running ones */
    bool failed;
};

/* ---- begin: who it is about, and what an earlier run left ---- */

static int changed(struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "the sweep file, its sources or the device changed since "
                   "the sweep: run fa-coord sweep first");
}

/* The plan's unit of each contestant, and that it is still the same. */
static int find_units(struct sweep *sweep, struct sweep_contest *c,
                      struct err *err)
{
    const struct contest *is = c->is;

    for (size_t i = 0; i < is->n_running; i++) {
        const struct contestant *one = &is->contestants[i];
        int unit = plan_find(sweep->plan, one->key);

        if (unit < 0 || strcmp(one->source_key,
                               plan_unit(sweep->plan, unit)->source_key) != 0)
            return changed(err);
        c->units[i] = unit;
    }
    return 0;
}

static int find_shapes(struct sweep *sweep, struct contest *is, struct err *err)
{
    int n = plan_shapes(sweep->plan);

    if (is->pass == 0) {
        is->shapes = mem_new((size_t)n, sizeof(*is->shapes));
        for (; is->n_shapes < (size_t)n; is->n_shapes++) {
            struct contest_shape *shape = &is->shapes[is->n_shapes];

            shape->name =
                mem_strdup(plan_shape_name(sweep->plan, (int)is->n_shapes));
            memcpy(shape->measure_key,
                   plan_measure_key(sweep->plan, (int)is->n_shapes), HASH_HEX);
        }
        return 0;
    }
    if (is->n_shapes != (size_t)n)
        return changed(err);
    for (int i = 0; i < n; i++)
        if (strcmp(is->shapes[i].measure_key,
                   plan_measure_key(sweep->plan, i)) != 0)
            return changed(err);
    return 0;
}

static int card_number(struct sweep_contest *c, const char *uuid)
{
    for (int i = 0; i < c->n_cards; i++)
        if (strcmp(c->cards[i].uuid, uuid) == 0)
            return i;
    c->cards = mem_grow(c->cards, (size_t)c->n_cards + 1, sizeof(*c->cards));
    c->cards[c->n_cards] = (struct card){ .host = -1 };
    snprintf(c->cards[c->n_cards].uuid, sizeof(c->cards[0].uuid), "%s", uuid);
    return c->n_cards++;
}

/* The results of an earlier run, block by block. */
struct past {
    struct sweep_contest *c;
    int block, gpu;
    int right; /* of this block, by contestants that are not out */
    bool *out;
    bool counting; /* the second time: who is out is known */
};

static void end_past_block(struct past *past)
{
    struct sweep_contest *c = past->c;
    int running = 0;

    if (past->block == 0)
        return;
    for (size_t i = 0; i < c->is->n_running; i++)
        running += !past->out[i];
    confirm_had(c->confirm, past->block, past->gpu,
                past->right == running * (int)c->is->n_shapes);
    past->block = past->right = 0;
}

static void look_at_past(void *arg, const struct contest_result *result)
{
    struct past *past = arg;

    if (!past->counting) {
        if (strcmp(result->outcome, "correct") != 0)
            past->out[result->contestant] = true;
        return;
    }
    if (past->block != result->block)
        end_past_block(past);
    past->block = result->block;
    past->gpu = card_number(past->c, result->gpu);
    past->right += !past->out[result->contestant];
}

static int take_past(struct sweep *sweep, struct sweep_contest *c,
                     struct err *err)
{
    struct past past = { .c = c, .out = mem_new(c->is->n, sizeof(bool)) };
    int rc;

    for (size_t i = 0; i < c->is->n_running; i++)
        past.out[i] = c->is->contestants[i].reason[0] != '\0';
    rc = contest_results(sweep->store, c->is, look_at_past, &past, err);
    past.counting = true;
    if (rc == 0)
        rc = contest_results(sweep->store, c->is, look_at_past, &past, err);
    end_past_block(&past);
    for (size_t i = 0; i < c->is->n_running; i++)
        if (past.out[i])
            confirm_out(c->confirm, (int)i);
    free(past.out);
    return rc;
}

static int steps_of_block(const struct sweep_contest *c)
{
    return (int)(c->is->n_running * c->is->n_shapes);
}

static void design(const struct sweep *sweep, struct sweep_contest *c)
{
    bool emulated = strcmp(sweep->options->device, "cpu") == 0;
    const struct contest *is = c->is;

    c->confirm = confirm_new(&(struct confirm_design){
        .contestants = (int)is->n_running,
        .shapes = (int)is->n_shapes,
        .blocks = is->blocks,
        .gpu_blocks = emulated ? 1 : GPU_BLOCKS,
        .seed = (uint64_t)(is->seed + is->pass),
    });
}

int sweep_contest_begin(struct sweep *sweep, struct err *err)
{
    struct contest *is = sweep->options->contest;
    struct sweep_contest *c = mem_new(1, sizeof(*c));
    bool is_new = is->pass == 0;
    int rc;

    c->is = is;
    c->units = mem_new(is->n_running, sizeof(*c->units));
    rc = is_new ? contest_sources(sweep->store, is, err) : 0;
    if (rc == 0)
        rc = find_units(sweep, c, err);
    if (rc == 0)
        rc = find_shapes(sweep, is, err);
    if (rc == 0 && is_new)
        rc = contest_put(sweep->store, is, err);
    if (rc == 0) {
        sweep_dirty(sweep);
        design(sweep, c);
        rc = take_past(sweep, c, err);
    }
    if (rc == 0)
        rc = sweep_tools_begin(sweep, is, err);
    if (rc < 0) {
        sweep_contest_free(c);
        return rc;
    }
    /* What is screened is screened. */
    for (int unit = 0; unit < plan_units(sweep->plan); unit++)
        for (int shape = 0; shape < plan_shapes(sweep->plan); shape++)
            sched_settled(sweep->sched, JOB_MEASURE, unit, shape, true);
    c->done = confirm_complete(c->confirm) * steps_of_block(c);
    if (!is_new)
        progress_say(sweep->progress, "%d of %d blocks are there already",
                     confirm_complete(c->confirm), is->blocks);
    sweep->contest = c;
    return 0;
}

void sweep_contest_free(struct sweep_contest *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->n_cards; i++) {
        free(c->cards[i].steps);
        free(c->cards[i].orders);
    }
    free(c->cards);
    free(c->units);
    confirm_free(c->confirm);
    free(c);
}

/* ---- blocks become orders ---- */

static void note_gpus(struct sweep *sweep, struct sweep_contest *c)
{
    for (int i = 0; i < c->n_cards; i++)
        confirm_gpu(c->confirm, i, false);
    for (size_t host = 0; host < sweep->n_boxes; host++) {
        const struct box *box = &sweep->boxes[host];

        for (int gpu = 0; box->state == BOX_READY && gpu < box->n_gpus; gpu++) {
            int number = card_number(c, box->gpus[gpu].uuid);

            c->cards[number].host = (int)host;
            c->cards[number].gpu = gpu;
            confirm_gpu(c->confirm, number,
                        !box->suspect && !sweep_canary_bans(sweep, host, gpu));
        }
    }
}

static bool all_are_here(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        if (host_measures(sweep->boxes[i].host) &&
            sweep->boxes[i].state != BOX_READY &&
            sweep->boxes[i].state != BOX_FAILED)
            return clock_boot_ns() - sweep->started_ns > ARRIVAL_NS;
    return true;
}

static void forget_block(struct card *card)
{
    free(card->steps);
    free(card->orders);
    card->steps = NULL;
    card->orders = NULL;
    card->block = card->n = card->next = 0;
}

/* Nobody waits for the rest of a block that lost a measurement. */
static void break_block(struct sweep *sweep, struct card *card)
{
    struct sweep_contest *c = sweep->contest;

    log_line(LOG_W, "BLOCK-DROPPED", "pass=%lld block=%d gpu=%s",
             (long long)c->is->pass, card->block, card->uuid);
    for (int i = 0; i < card->n; i++)
        if (card->orders[i])
            sched_order_cancel(sweep->sched, card->orders[i]);
    sweep_external_broken(sweep, (int)contest_round(c->is, card->block));
    confirm_broken(c->confirm, card->block);
    forget_block(card);
}

static void take_out(struct sweep *sweep, int contestant, const char *reason)
{
    struct sweep_contest *c = sweep->contest;
    char name[160];
    struct err err;

    confirm_out(c->confirm, contestant);
    if (contest_put_out(sweep->store, c->is, (size_t)contestant, reason, &err) <
        0)
        sweep_fail(sweep, 7, "error", &err);
    sweep_dirty(sweep);
    plan_display(sweep->plan, c->units[contestant], name, sizeof(name));
    progress_say(sweep->progress, "%s is out: %s", name, reason);
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

static void begin_block(struct sweep *sweep, const struct confirm_block *block)
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

/* Order what can be ordered of the block.  What follows a run of the external
 * baseline waits for its result: nothing else could run on the GPU anyway, and
 * no other run is handed out before it is known how this one ended. */
static void go_on(struct sweep *sweep, struct card *card)
{
    struct sweep_contest *c = sweep->contest;

    if (card->next < card->n &&
        sweep_canary_bans(sweep, (size_t)card->host, card->gpu)) {
        break_block(sweep, card);
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
            take_out(sweep, contestant, "it could not be built once more");
        break_block(sweep, card);
        return;
    }
}

void sweep_contest_turn(struct sweep *sweep)
{
    struct sweep_contest *c = sweep->contest;
    struct confirm_block block;

    if (!c || !all_are_here(sweep))
        return;
    note_gpus(sweep, c);
    while (!sweep->ending && confirm_next(c->confirm, &block))
        begin_block(sweep, &block);
    for (int i = 0; i < c->n_cards && !sweep->ending; i++)
        go_on(sweep, &c->cards[i]);
}

/* ---- what comes of them ---- */

static struct card *find_step(struct sweep_contest *c,
                              const struct sched_lease *lease, int *step)
{
    for (int i = 0; i < c->n_cards; i++)
        for (*step = 0; *step < c->cards[i].n; ++*step)
            if (c->cards[i].orders[*step] == lease->order)
                return &c->cards[i];
    return NULL;
}

void sweep_contest_ended(struct sweep *sweep, const struct sched_lease *lease,
                         const struct msg *result)
{
    struct sweep_contest *c = sweep->contest;
    int step;
    struct card *card = find_step(c, lease, &step);
    int contestant;

    if (!card)
        return; /* of a block that was dropped */
    if (!result) {
        break_block(sweep, card);
        return;
    }
    contestant = card->steps[step].contestant;
    if (strcmp(result->outcome, "correct") != 0 &&
        !confirm_is_out(c->confirm, contestant)) {
        char *reason =
            mem_printf("%s in the confirmation, at %s: %s", result->outcome,
                       result->id.shape, result->detail);

        take_out(sweep, contestant, reason);
        free(reason);
    }
    c->done++;
    if (confirm_measured(c->confirm, card->block, step)) {
        sweep_external_complete(sweep, (int)contest_round(c->is, card->block));
        forget_block(card);
    }
}

void sweep_contest_broken(struct sweep *sweep, int round)
{
    struct sweep_contest *c = sweep->contest;

    for (int i = 0; i < c->n_cards; i++)
        if (c->cards[i].block &&
            contest_round(c->is, c->cards[i].block) == round)
            break_block(sweep, &c->cards[i]);
}

void sweep_contest_lost(struct sweep *sweep, const struct sched_lease *lease,
                        const char *died)
{
    struct sweep_contest *c = sweep->contest;
    int step;
    struct card *card = find_step(c, lease, &step);
    int contestant;

    if (!card)
        return;
    contestant = card->steps[step].contestant;
    if (died && confirm_crashed(c->confirm, card->block, contestant)) {
        char *reason = mem_printf("its process died %d times in the "
                                  "confirmation: %s",
                                  CONFIRM_CRASHES, died);

        take_out(sweep, contestant, reason);
        free(reason);
    }
    break_block(sweep, card);
}

/* ---- the end ---- */

bool sweep_contest_is_over(const struct sweep *sweep)
{
    const struct sweep_contest *c = sweep->contest;

    return confirm_failed(c->confirm) ||
           (confirm_done(c->confirm) && !sweep_tools_wait(sweep));
}

void sweep_contest_progress(const struct sweep *sweep, int *done, int *total)
{
    const struct sweep_contest *c = sweep->contest;
    int wanted = confirm_wanted(c->confirm) * steps_of_block(c);

    *done = c->done < wanted ? c->done : wanted;
    *total = wanted;
}

void sweep_contest_end(struct sweep *sweep)
{
    struct sweep_contest *c = sweep->contest;
    bool failed = confirm_failed(c->confirm);
    struct err err;

    if (!sweep_contest_is_over(sweep))
        return; /* it can be gone on with */
    if (contest_put_end(sweep->store, c->is, failed, &err) < 0) {
        sweep_fail(sweep, 7, "error", &err);
        return;
    }
    sweep_dirty(sweep);
    if (failed) {
        err_set(&err, ERR_DEVICE,
                "the confirmation cannot be brought to its end: %d of %d "
                "blocks are complete, %d lost a measurement%s%.120s",
                confirm_complete(c->confirm), c->is->blocks,
                confirm_broke(c->confirm),
                c->is->contestants[0].reason[0] ? "; the baseline: " : "",
                c->is->contestants[0].reason);
        sweep_fail(sweep, 1, "error", &err);
    }
}
