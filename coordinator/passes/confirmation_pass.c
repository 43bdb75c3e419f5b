/* A confirmation in the reactor: its blocks become orders, and their results
 * become blocks that count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/confirmation_looks.h"
#include "coordinator/passes/external_runs.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/state/records.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"

/* The fewest blocks on each GPU: its own interval is then finite. */
#define GPU_BLOCKS 5
/* Blocks are dealt over the connected GPUs; hosts have this long to connect. */
#define ARRIVAL_NS (5 * NS_PER_S)

/* ---- begin ---- */

static int steps_of_block(const struct confirmation_pass *c)
{
    return (int)(c->is->n_running * c->is->n_shapes);
}

static void design(const struct sweep *sweep, struct confirmation_pass *c)
{
    bool emulated =
        device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU);
    const struct confirmation *is = c->is;

    c->confirm = block_schedule_new(&(struct block_schedule_design){
        .candidates = (int)is->n_running,
        .shapes = (int)is->n_shapes,
        .blocks = is->blocks,
        .gpu_blocks = emulated ? 1 : GPU_BLOCKS,
        .seed = (uint64_t)(is->seed + is->pass),
    });
}

static int contest_lead(struct sweep *sweep, struct pass *pass, struct err *err)
{
    struct confirmation *is = sweep->reactor.options->confirmation;
    struct confirmation_pass *c;
    bool is_new = is && is->pass == 0;
    int rc;

    if (!is)
        return 0;
    pass->state = c = mem_new(1, sizeof(*c));
    c->pass = pass->index;
    c->is = is;
    c->samples = is->samples;
    c->units = mem_new(is->n_running, sizeof(*c->units));
    rc = is_new ? confirmation_sources(sweep->mail.store, is, err) : 0;
    if (rc == 0)
        rc = confirmation_recall_units(sweep, c, err);
    if (rc == 0)
        rc = confirmation_recall_shapes(sweep, is, err);
    if (rc == 0 && is_new)
        rc = confirmation_put(sweep->mail.store, is, err);
    if (rc == 0) {
        records_dirty(sweep);
        design(sweep, c);
        rc = confirmation_recall(sweep, c, err);
    }
    if (rc == 0)
        rc = external_runs_begin(sweep, c, err);
    if (rc < 0)
        return rc;
    c->medians = mem_new(is->n_running * is->n_shapes, sizeof(*c->medians));
    for (size_t i = 0; i < is->n_running * is->n_shapes; i++)
        c->medians[i] = NAN;
    /* Nothing is screened again. */
    for (int unit = 0; unit < plan_units(sweep->work.plan); unit++)
        for (int shape = 0; shape < plan_shapes(sweep->work.plan); shape++)
            sched_settled(sweep->work.sched, JOB_MEASURE, unit, shape, true);
    if (!is_new)
        progress_say(
            sweep->reactor.progress, "%d of %s%d blocks are stored already",
            block_schedule_complete(c->confirm),
            is->looks.group > 0 ? "at most " : "", confirmation_blocks_max(is));
    return 1;
}

static void contest_free(struct pass *pass)
{
    struct confirmation_pass *c = pass->state;

    for (int i = 0; i < c->n_cards; i++) {
        free(c->cards[i].steps);
        free(c->cards[i].orders);
    }
    free(c->cards);
    free(c->units);
    free(c->medians);
    block_schedule_free(c->confirm);
    sequential_course_free(c->course);
    external_runs_free(c->tools);
    free(c);
}

/* ---- what the caps leave ---- */

struct left {
    struct reserve_times times;
    double s;
};

/* A bench makes all its blocks, in as many runs as that takes. */
static struct left left_of(const struct sweep *sweep,
                           const struct confirmation_pass *c)
{
    bool all = c->is->kind == CONFIRMATION_BENCH;

    return (struct left){ reactor_times(sweep),
                          all ? (double)INFINITY : reactor_left_s(sweep) };
}

/* End with the blocks that are complete.  False if there are none: it goes on
 * to the cap. */
static bool close_early(struct confirmation_pass *c)
{
    c->closed = c->closed || (c->is->kind != CONFIRMATION_BENCH &&
                              block_schedule_complete(c->confirm) > 0);
    return c->closed;
}

static bool contest_close(struct sweep *sweep, struct pass *pass)
{
    (void)sweep;
    return close_early(pass->state);
}

/* A block takes as long as the one before it on the same GPU. */
static bool has_time(const struct card *card, const struct left *left)
{
    return reserve_has_block(&left->times,
                             (double)card->took_ns / (double)NS_PER_S, left->s);
}

static bool runs_block(const struct confirmation_pass *c)
{
    for (int i = 0; i < c->n_cards; i++)
        if (c->cards[i].block)
            return true;
    return false;
}

/* ---- blocks become orders ---- */

/* Returns how many GPUs lack nothing but time. */
static int note_gpus(struct sweep *sweep, struct confirmation_pass *c,
                     const struct left *left)
{
    int late = 0;

    for (int i = 0; i < c->n_cards; i++)
        block_schedule_gpu(c->confirm, i, false);
    for (size_t host = 0; host < sweep->fleet.n; host++) {
        const struct host_state *host_state = &sweep->fleet.hosts[host];

        for (int gpu = 0;
             host_state->state == HOST_STATE_READY && gpu < host_state->n_gpus;
             gpu++) {
            int number = confirmation_state_card(c, host_state->gpus[gpu].uuid);
            bool fits = has_time(&c->cards[number], left);
            bool usable = !host_state->suspect && !pass_bans(sweep, host, gpu);

            c->cards[number].host = (int)host;
            c->cards[number].gpu = gpu;
            block_schedule_gpu(c->confirm, number, usable && fits);
            late += usable && !fits;
        }
    }
    return late;
}

static bool all_are_here(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (host_measures(sweep->fleet.hosts[i].host) &&
            host_state_is_to_come(&sweep->fleet.hosts[i]))
            return reactor_now(sweep) - sweep->reactor.started_ns > ARRIVAL_NS;
    return true;
}

/* All blocks until the next look are there. */
static bool wants_look(const struct confirmation_pass *c)
{
    return c->is->looks.group > 0 && c->end == SEQUENTIAL_OPEN &&
           block_schedule_done(c->confirm);
}

/* Blocks that run when it is closed are not waited for. */
static bool contest_is_over(const struct sweep *sweep, const struct pass *pass)
{
    const struct confirmation_pass *c = pass->state;

    (void)sweep;
    return block_schedule_failed(c->confirm) || c->closed ||
           (block_schedule_done(c->confirm) && !wants_look(c) &&
            !external_runs_waits(c));
}

static void contest_turn(struct sweep *sweep, struct pass *pass)
{
    struct confirmation_pass *c = pass->state;
    struct block_schedule_block block;
    struct left left = left_of(sweep, c);
    bool looks;
    int late;

    if (!reserve_has_block(&left.times, 0, left.s) && close_early(c))
        return;
    if (!all_are_here(sweep))
        return;
    late = note_gpus(sweep, c, &left);
    do {
        looks = !sweep->reactor.ending && wants_look(c);
        if (looks)
            confirmation_looks_take(sweep, c);
        while (!sweep->reactor.ending &&
               block_schedule_next(c->confirm, &block))
            confirmation_block_begin(c, &block, reactor_now(sweep));
        for (int i = 0; i < c->n_cards && !sweep->reactor.ending; i++)
            confirmation_block_go_on(sweep, c, &c->cards[i]);
        /* Was the last block before a look broken just now? */
    } while (!looks && !sweep->reactor.ending && wants_look(c));
    if (late > 0 && !runs_block(c) && !contest_is_over(sweep, pass))
        close_early(c);
}

/* ---- what comes of them ---- */

static struct card *find_step(struct confirmation_pass *c,
                              const struct sched_lease *lease, int *step)
{
    for (int i = 0; i < c->n_cards; i++)
        for (*step = 0; *step < c->cards[i].n; ++*step)
            if (c->cards[i].orders[*step] == lease->order)
                return &c->cards[i];
    return NULL;
}

static double *median_of(const struct confirmation_pass *c,
                         const struct block_schedule_step *step)
{
    return &c->medians[(size_t)step->candidate * c->is->n_shapes +
                       (size_t)step->shape];
}

static void keep_median(const struct confirmation_pass *c,
                        const struct block_schedule_step *step,
                        const struct reals *samples)
{
    double *copy;

    if (samples->n == 0)
        return;
    copy = mem_new(samples->n, sizeof(*copy));
    memcpy(copy, samples->items, samples->n * sizeof(*copy));
    *median_of(c, step) = stats_median(copy, samples->n);
    free(copy);
}

static void step_ended(struct sweep *sweep, struct confirmation_pass *c,
                       const struct sched_lease *lease,
                       const struct msg *result)
{
    int step;
    struct card *card = find_step(c, lease, &step);
    int candidate;

    if (!card)
        return; /* of a dropped block */
    if (!result) {
        confirmation_block_break(sweep, c, card);
        return;
    }
    card->orders[step] = 0;
    keep_median(c, &card->steps[step], &result->measured.samples);
    candidate = card->steps[step].candidate;
    if (!outcome_is(msg_result(result)->outcome, OUTCOME_CORRECT) &&
        !block_schedule_is_out(c->confirm, candidate)) {
        char *reason = mem_printf(
            "%s in the confirmation, at %s: %s", msg_result(result)->outcome,
            msg_work(result)->id.shape, msg_result(result)->detail);

        confirmation_state_out(sweep, c, candidate, reason);
        free(reason);
    }
    c->done++;
    if (block_schedule_measured(c->confirm, card->block, step)) {
        external_runs_complete(c, (int)confirmation_round(c->is, card->block));
        if (card->warm)
            card->took_ns = reactor_now(sweep) - card->began_ns;
        card->warm = true;
        confirmation_block_forget(card);
    }
}

/* The block of this round can no longer count. */
static void break_round(struct sweep *sweep, struct confirmation_pass *c,
                        int round)
{
    for (int i = 0; i < c->n_cards; i++)
        if (c->cards[i].block &&
            confirmation_round(c->is, c->cards[i].block) == round)
            confirmation_block_break(sweep, c, &c->cards[i]);
}

static void contest_ended(struct sweep *sweep, struct pass *pass,
                          const struct sched_lease *lease,
                          const struct msg *result)
{
    struct confirmation_pass *c = pass->state;

    if (lease->purpose == SCHED_CONFIRM)
        step_ended(sweep, c, lease, result);
    else if (!external_runs_ended(sweep, c, lease, result))
        break_round(sweep, c, lease->round);
}

static void step_lost(struct sweep *sweep, struct confirmation_pass *c,
                      const struct sched_lease *lease, const char *died)
{
    int step;
    struct card *card = find_step(c, lease, &step);
    int candidate;

    if (!card)
        return;
    candidate = card->steps[step].candidate;
    if (died && block_schedule_crashed(c->confirm, card->block, candidate)) {
        char *reason = mem_printf("its process died %d times in the "
                                  "confirmation: %s",
                                  BLOCK_SCHEDULE_CRASHES, died);

        confirmation_state_out(sweep, c, candidate, reason);
        free(reason);
    }
    confirmation_block_break(sweep, c, card);
}

static void contest_lost(struct sweep *sweep, struct pass *pass,
                         const struct sched_lease *lease, const char *died,
                         const char *reason)
{
    struct confirmation_pass *c = pass->state;

    if (lease->purpose == SCHED_CONFIRM) {
        step_lost(sweep, c, lease, died);
        return;
    }
    external_runs_lost(sweep, c, lease, reason);
    /* The worker and the process of the block's measurements are gone. */
    if (!died)
        break_round(sweep, c, lease->round);
}

/* ---- what the reactor asks ---- */

static int contest_samples(const struct sweep *sweep, const struct pass *pass,
                           const struct sched_lease *lease)
{
    const struct confirmation_pass *c = pass->state;

    (void)sweep;
    return lease->purpose == SCHED_CONFIRM ? c->samples : 0;
}

/* At the shape of the step, by the newest measurement of each. */
static double fastest_finalist(const struct confirmation_pass *c,
                               const struct block_schedule_step *step)
{
    double fastest = NAN;

    for (size_t i = 0; i < c->is->n_running; i++) {
        const struct block_schedule_step at = { .candidate = (int)i,
                                                .shape = step->shape };

        if (c->is->candidates[i].role == CONFIRMATION_FINALIST &&
            !block_schedule_is_out(c->confirm, (int)i))
            fastest = fmin(fastest, *median_of(c, &at));
    }
    return fastest;
}

static int contest_repeats(const struct sweep *sweep, const struct pass *pass,
                           const struct sched_lease *lease)
{
    struct confirmation_pass *c = pass->state;
    int repeats = look_plan_repeats(c->is), at;
    const struct block_schedule_step *step;
    const struct card *card;

    (void)sweep;
    if (lease->purpose != SCHED_CONFIRM)
        return 0;
    card = find_step(c, lease, &at);
    if (!card)
        return repeats;
    step = &card->steps[at];
    if (c->is->candidates[step->candidate].role != CONFIRMATION_BASELINE)
        return repeats;
    return look_plan_baseline_repeats(repeats, *median_of(c, step),
                                      fastest_finalist(c, step));
}

static int contest_fill(struct sweep *sweep, struct pass *pass,
                        const struct sched_lease *lease, struct msg_tool *out,
                        char key[HASH_HEX], struct err *err)
{
    return external_runs_fill(sweep, pass->state, lease, out, key, err);
}

static bool contest_bundle(struct sweep *sweep, struct pass *pass,
                           const char *hash, struct msg_bundle *out)
{
    (void)sweep;
    return external_runs_bundle(pass->state, hash, out);
}

static const char *contest_judge(const struct sweep *sweep,
                                 const struct pass *pass, struct msg_ran *ran,
                                 struct err *why)
{
    return external_runs_judge(sweep, pass->state, ran, why);
}

/* ---- what it waits for ---- */

static int tell_block(const struct card *card, pass_wait_fn *tell, void *arg)
{
    int orders = 0;

    for (int i = 0; i < card->next; i++) {
        if (!card->orders[i])
            continue;
        orders++;
        tell(arg, &(struct pass_wait){ .what = "a step of a block",
                                       .end = PASS_WAIT_ORDER,
                                       .order = card->orders[i] });
    }
    return orders;
}

/* A block with steps that are not ordered waits for a run of an external
 * baseline.  Blocks that have not begun wait for a GPU. */
static void contest_waits_for(const struct sweep *sweep,
                              const struct pass *pass, pass_wait_fn *tell,
                              void *arg)
{
    const struct confirmation_pass *c = pass->state;
    int runs = external_runs_waits_for(c, tell, arg), blocks = 0;

    if (contest_is_over(sweep, pass))
        return;
    if (!all_are_here(sweep)) {
        tell(arg, &(struct pass_wait){ .what = "hosts that are to come",
                                       .end = PASS_WAIT_TIME,
                                       .until_ns = sweep->reactor.started_ns +
                                                   ARRIVAL_NS });
        runs++;
    }
    for (int i = 0; i < c->n_cards; i++) {
        if (!c->cards[i].block)
            continue;
        blocks++;
        if (tell_block(&c->cards[i], tell, arg) + runs == 0)
            tell(arg, &(struct pass_wait){ .what = "the rest of a block" });
    }
    if (blocks == 0 && !block_schedule_done(c->confirm))
        tell(arg, &(struct pass_wait){ .what = "a GPU for the next block",
                                       .end = PASS_WAIT_HOST });
}

static void contest_progress(const struct sweep *sweep, const struct pass *pass,
                             struct progress_facts *facts)
{
    const struct confirmation_pass *c = pass->state;
    int wanted = block_schedule_wanted(c->confirm) * steps_of_block(c);

    (void)sweep;
    if (c->is->looks.group > 0)
        wanted = c->total;
    facts->kind = PROGRESS_MEASURED;
    facts->settled = c->done < wanted ? c->done : wanted;
    facts->correct = facts->settled;
    facts->total = wanted;
}

static void contest_end(struct sweep *sweep, struct pass *pass)
{
    struct confirmation_pass *c = pass->state;
    bool failed = block_schedule_failed(c->confirm);
    bool early = c->closed && !failed;
    struct err err;

    if (!contest_is_over(sweep, pass))
        return; /* a later run can continue it */
    if (confirmation_put_end(sweep->mail.store, c->is, failed, &err) < 0) {
        reactor_fail(sweep, EXIT_DATABASE, &err);
        return;
    }
    records_dirty(sweep);
    if (failed) {
        confirmation_state_failure(c, store_path(sweep->mail.store), &err);
        reactor_fail(sweep, EXIT_NO_RESULT, &err);
    } else if (early) {
        confirmation_looks_close(sweep, c);
    }
}

const struct pass_ops confirmation_pass = {
    .name = "confirmation",
    .purposes = 1U << SCHED_CONFIRM | 1U << SCHED_EXTERNAL,
    .start.lead = contest_lead,
    .turn = contest_turn,
    .ended = contest_ended,
    .lost = contest_lost,
    .amounts = { contest_samples, contest_repeats },
    .commands.fill = contest_fill,
    .commands.bundle = contest_bundle,
    .commands.judge = contest_judge,
    .waits_for = contest_waits_for,
    .is_over = contest_is_over,
    .progress = contest_progress,
    .end = { contest_close, contest_end },
    .free = contest_free,
};
