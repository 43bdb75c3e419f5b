/* A contest in the reactor: its blocks become orders, and what comes of these
 * becomes blocks that count. */
#include "coordinator/sweep_contest_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* At least so many blocks on each GPU: an interval of its own is finite. */
#define GPU_BLOCKS 5
/* Blocks are dealt over the GPUs there are; hosts of the file get so long. */
#define ARRIVAL_NS (5 * NS_PER_S)

/* ---- begin ---- */

int sweep_contest_card(struct sweep_contest *c, const char *uuid)
{
    for (int i = 0; i < c->n_cards; i++)
        if (strcmp(c->cards[i].uuid, uuid) == 0)
            return i;
    c->cards = mem_grow(c->cards, (size_t)c->n_cards + 1, sizeof(*c->cards));
    c->cards[c->n_cards] = (struct card){ .host = -1 };
    snprintf(c->cards[c->n_cards].uuid, sizeof(c->cards[0].uuid), "%s", uuid);
    return c->n_cards++;
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
        rc = sweep_contest_units(sweep, c, err);
    if (rc == 0)
        rc = sweep_contest_shapes(sweep, is, err);
    if (rc == 0 && is_new)
        rc = contest_put(sweep->store, is, err);
    if (rc == 0) {
        sweep_dirty(sweep);
        design(sweep, c);
        rc = sweep_contest_recall(sweep, c, err);
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
            int number = sweep_contest_card(c, box->gpus[gpu].uuid);

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

void sweep_contest_turn(struct sweep *sweep)
{
    struct sweep_contest *c = sweep->contest;
    struct confirm_block block;

    if (!c || !all_are_here(sweep))
        return;
    note_gpus(sweep, c);
    while (!sweep->ending && confirm_next(c->confirm, &block))
        sweep_block_begin(sweep, &block);
    for (int i = 0; i < c->n_cards && !sweep->ending; i++)
        sweep_block_go_on(sweep, &c->cards[i]);
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

void sweep_contest_out(struct sweep *sweep, int contestant, const char *reason)
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
        sweep_block_break(sweep, card);
        return;
    }
    contestant = card->steps[step].contestant;
    if (strcmp(result->outcome, "correct") != 0 &&
        !confirm_is_out(c->confirm, contestant)) {
        char *reason =
            mem_printf("%s in the confirmation, at %s: %s", result->outcome,
                       result->id.shape, result->detail);

        sweep_contest_out(sweep, contestant, reason);
        free(reason);
    }
    c->done++;
    if (confirm_measured(c->confirm, card->block, step)) {
        sweep_external_complete(sweep, (int)contest_round(c->is, card->block));
        sweep_block_forget(card);
    }
}

void sweep_contest_broken(struct sweep *sweep, int round)
{
    struct sweep_contest *c = sweep->contest;

    for (int i = 0; i < c->n_cards; i++)
        if (c->cards[i].block &&
            contest_round(c->is, c->cards[i].block) == round)
            sweep_block_break(sweep, &c->cards[i]);
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

        sweep_contest_out(sweep, contestant, reason);
        free(reason);
    }
    sweep_block_break(sweep, card);
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
