/* The baseline as a canary on each GPU.  gpu_trust.h decides what follows from
 * it, and this file does that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/passes.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/gpu_trust.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/stats/stats.h"
#include "coordinator/stored/pass_rows.h"

#define EVERY 50      /* docs/measuring.md */
#define REST_S 5      /* the first; three in a row are 30 s */
#define AGAIN_SHARE 5 /* at most one in this many measurements is repeated */
#define STEPS_A_TURN 1000

/* The baseline is the first unit, the headline the first shape. */
enum {
    CANARY_UNIT = 0,
    CANARY_SHAPE = 0
};

/* A GPU; its index is its number in gpu_trust. */
struct canary_gpu {
    char uuid[128];
    int host, gpu; /* where it is; host -1: not connected */
    int64_t order; /* of its canary, or 0 */
};

struct canary_run {
    int pass; /* its number, for its orders */
    struct gpu_trust *trust;
    struct canary_gpu *gpus;
    int n_gpus;
    int round;   /* of the next canary */
    int *rounds; /* of each measurement: the newest repetition that was ordered
                  */
    int *again_on; /* and the number of the GPU on which */
    bool off;
};

static struct canary_run *canary_of(const struct sweep *sweep)
{
    return pass_state(sweep, &canary_pass);
}

static int job_of(const struct sweep *sweep, int unit, int shape)
{
    return unit * plan_shapes(sweep->work.plan) + shape;
}

/* In the time of the database rows, but steady: if the machine's clock is set
 * back, a GPU does not rest for longer. */
static double now_s(const struct sweep *sweep)
{
    int64_t age_ns = reactor_now(sweep) - sweep->reactor.started_ns;

    return (double)(sweep->reactor.epoch + age_ns) / 1e9;
}

static int number_of(struct canary_run *canary, const char *uuid)
{
    struct canary_gpu *gpu;

    for (int i = 0; i < canary->n_gpus; i++)
        if (strcmp(canary->gpus[i].uuid, uuid) == 0)
            return i;
    canary->gpus = mem_grow(canary->gpus, (size_t)canary->n_gpus + 1,
                            sizeof(*canary->gpus));
    gpu = &canary->gpus[canary->n_gpus];
    *gpu = (struct canary_gpu){ .host = -1 };
    snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", uuid);
    return canary->n_gpus++;
}

/* ---- what earlier runs left ---- */

static void had_canary(void *arg, const struct pass_rows_canary *row)
{
    struct canary_run *canary = canary_of(arg);

    if (row->median_s > 0)
        gpu_trust_had_canary(canary->trust, number_of(canary, row->gpu),
                             (double)row->received_utc / 1e9, row->median_s);
}

static void had_result(void *arg, const struct pass_rows_result *row)
{
    const struct sweep *sweep = arg;
    struct canary_run *canary = canary_of(sweep);
    int unit = plan_find(sweep->work.plan, row->config);
    int shape = plan_find_shape(sweep->work.plan, row->shape);

    if (unit >= 0 && shape >= 0 &&
        strcmp(row->source_key,
               plan_unit(sweep->work.plan, unit)->source_key) == 0 &&
        strcmp(row->measure_key, plan_measure_key(sweep->work.plan, shape)) ==
            0)
        gpu_trust_had(canary->trust, number_of(canary, row->gpu),
                      job_of(sweep, unit, shape),
                      (int)(row->round % SWEEP_RUNG_ROUNDS),
                      (double)row->received_utc / 1e9);
}

static void had_round(void *arg, const struct pass_rows_round *row)
{
    const struct sweep *sweep = arg;
    int unit = plan_find(sweep->work.plan, row->config);
    int shape = plan_find_shape(sweep->work.plan, row->shape);

    if (unit >= 0 && shape >= 0)
        canary_of(sweep)->rounds[job_of(sweep, unit, shape)] = (int)row->round;
}

/* A GPU that an earlier pass of this command quarantined. */
static void was_banned(void *arg, const char *uuid)
{
    struct canary_run *canary = canary_of(arg);

    gpu_trust_ban(canary->trust, number_of(canary, uuid));
}

/* When the first pass of the command began. */
static int64_t began_utc(const struct sweep *sweep)
{
    return sweep->reactor.epoch -
           (int64_t)(sweep->reactor.options->caps.hours_before * 3600 *
                     (double)NS_PER_S);
}

static int recall(struct sweep *sweep, struct err *err)
{
    const struct plan_unit *unit = plan_unit(sweep->work.plan, CANARY_UNIT);
    const struct store_outcome key = {
        .config = unit->key,
        .shape = plan_shape_name(sweep->work.plan, CANARY_SHAPE),
        .source_key = unit->source_key,
        .measure_key = plan_measure_key(sweep->work.plan, CANARY_SHAPE),
    };
    struct store *store = sweep->mail.store;
    int64_t round = 0;
    int rc = pass_rows_canaries(store, &key, had_canary, sweep, err);

    if (rc == 0)
        rc = pass_rows_results(store, had_result, sweep, err);
    if (rc == 0)
        rc = pass_rows_rounds(store, had_round, sweep, err);
    if (rc == 0)
        rc = pass_rows_canary_round(store, &round, err);
    canary_of(sweep)->round = (int)round;
    if (rc == 0)
        rc = pass_rows_quarantined(store, began_utc(sweep), was_banned, sweep,
                                   err);
    return rc;
}

/* ---- GPUs come and go ---- */

/* A rest does not make its times less noisy. */
static bool is_emulated(const struct sweep *sweep)
{
    return device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU);
}

static int every(const struct sweep *sweep)
{
    if (sweep->work.spec->measure.canary_every >= 0)
        return sweep->work.spec->measure.canary_every;
    return is_emulated(sweep) ? 0 : EVERY;
}

/* In a replay, the rest is divided by the speed-up too. */
static double rest_s(const struct sweep *sweep)
{
    if (sweep->work.spec->replay)
        return REST_S / replay_speed_up(sweep->work.spec->replay);
    return is_emulated(sweep) ? 0 : REST_S;
}

static int canary_begin(struct sweep *sweep, struct pass *pass, struct err *err)
{
    int jobs = plan_units(sweep->work.plan) * plan_shapes(sweep->work.plan);
    struct gpu_trust_rules rules = { .every = every(sweep),
                                     .line = CANARY_CALIBRATION_RULES,
                                     .rest_s = rest_s(sweep),
                                     .again_max = jobs / AGAIN_SHARE };
    struct canary_run *canary;

    if (rules.every == 0 || jobs == 0 ||
        (sweep->reactor.options->ask &&
         !sweep->reactor.options->confirmation) ||
        !plan_unit(sweep->work.plan, CANARY_UNIT)->baseline)
        return 0;
    if (rules.again_max < 2 * rules.every) /* at least a window or two */
        rules.again_max = 2 * rules.every;
    pass->state = canary = mem_new(1, sizeof(*canary));
    canary->pass = pass->index;
    canary->trust = gpu_trust_new(&rules, jobs);
    /* A confirmation has the baseline in every block; it needs to know only
     * which GPUs to leave out. */
    canary->off = sweep->reactor.options->confirmation != NULL;
    canary->rounds = mem_new((size_t)jobs, sizeof(int));
    canary->again_on = mem_new((size_t)jobs, sizeof(int));
    return recall(sweep, err);
}

static void canary_free(struct pass *pass)
{
    struct canary_run *canary = pass->state;

    gpu_trust_free(canary->trust);
    free(canary->gpus);
    free(canary->rounds);
    free(canary->again_on);
    free(canary);
}

static void has_gone(struct canary_run *canary, int number)
{
    if (canary->gpus[number].host >= 0)
        gpu_trust_gpu(canary->trust, number, false);
    canary->gpus[number].host = -1;
}

static void canary_host_down(struct sweep *sweep, struct pass *pass,
                             size_t host)
{
    struct canary_run *canary = pass->state;

    (void)sweep;
    for (int i = 0; i < canary->n_gpus; i++)
        if (canary->gpus[i].host == (int)host)
            has_gone(canary, i);
}

/* After a new connection a host may have other GPUs, or another order. */
static void canary_host_up(struct sweep *sweep, struct pass *pass, size_t host)
{
    struct canary_run *canary = pass->state;
    const struct host_state *host_state = &sweep->fleet.hosts[host];

    for (int i = 0; i < canary->n_gpus; i++) {
        const struct canary_gpu *at = &canary->gpus[i];

        if (at->host == (int)host &&
            (at->gpu >= host_state->n_gpus ||
             strcmp(at->uuid, host_state->gpus[at->gpu].uuid) != 0))
            has_gone(canary, i);
    }
    for (int g = 0; g < host_state->n_gpus; g++) {
        int number = number_of(canary, host_state->gpus[g].uuid);
        bool is_new = canary->gpus[number].host < 0;

        canary->gpus[number].host = (int)host;
        canary->gpus[number].gpu = g;
        if (is_new)
            gpu_trust_gpu(canary->trust, number, true);
        sched_gpu_rest(sweep->work.sched, (int)host, g,
                       !gpu_trust_is_trusted(canary->trust, number));
    }
}

static bool canary_bans(const struct sweep *sweep, const struct pass *pass,
                        size_t host, int gpu)
{
    const struct canary_run *canary = pass->state;

    (void)sweep;
    for (int i = 0; i < canary->n_gpus; i++)
        if (canary->gpus[i].host == (int)host && canary->gpus[i].gpu == gpu)
            return gpu_trust_is_quarantined(canary->trust, i);
    return false;
}

static int canary_samples(const struct sweep *sweep, const struct pass *pass,
                          const struct sched_lease *lease)
{
    (void)pass;
    return lease->purpose == SCHED_CANARY
               ? sweep->work.spec->measure.canary_samples
               : 0;
}

/* ---- results ---- */

static double median_of(const struct msg_measured *measured)
{
    struct summary times;

    stats_summary(measured->samples.items, measured->samples.n, &times);
    return times.median;
}

static void canary_measured(struct sweep *sweep, struct pass *pass,
                            const struct sched_lease *job,
                            const struct msg_measured *measured)
{
    bool timed = outcome_is(measured->result.outcome, OUTCOME_CORRECT) &&
                 measured->samples.n > 0;
    struct canary_run *canary = pass->state;
    int number = job_of(sweep, job->unit, job->shape);

    if (job->round > canary->rounds[number])
        canary->rounds[number] = job->round;
    gpu_trust_measured(canary->trust, number_of(canary, measured->gpu),
                       timed ? number : -1, now_s(sweep));
}

/* An order is over: the number of the GPU whose canary it was, or -1. */
static int take_order(struct canary_run *canary, int64_t order)
{
    for (int i = 0; i < canary->n_gpus; i++)
        if (canary->gpus[i].order == order) {
            canary->gpus[i].order = 0;
            return i;
        }
    return -1;
}

static void canary_ended(struct sweep *sweep, struct canary_run *canary,
                         const struct sched_lease *lease,
                         const struct msg_measured *measured)
{
    int number = take_order(canary, lease->order);

    if (number < 0)
        return;
    if (!measured && lease->attempt > sweep->reactor.options->attempts)
        gpu_trust_canary_wrong(canary->trust, number, "its process died");
    else if (!measured)
        gpu_trust_canary_gone(canary->trust, number);
    else if (!outcome_is(measured->result.outcome, OUTCOME_CORRECT) ||
             measured->samples.n == 0)
        gpu_trust_canary_wrong(canary->trust, number,
                               *measured->result.detail
                                   ? measured->result.detail
                                   : measured->result.outcome);
    else
        gpu_trust_canary(canary->trust, number, now_s(sweep),
                         median_of(measured));
}

static void order_ended(struct sweep *sweep, struct pass *pass,
                        const struct sched_lease *lease,
                        const struct msg *result)
{
    struct canary_run *canary = pass->state;
    int job = job_of(sweep, lease->unit, lease->shape);

    if (lease->purpose == SCHED_CANARY)
        canary_ended(sweep, canary, lease, result ? &result->measured : NULL);
    else
        gpu_trust_again_ended(canary->trust, canary->again_on[job], job,
                              result != NULL);
}

/* ---- what the trust in GPUs asks for ---- */

static void say(struct sweep *sweep, const char *event,
                const struct gpu_trust_step *step)
{
    const struct canary_gpu *gpu =
        step->gpu < 0 ? NULL : &canary_of(sweep)->gpus[step->gpu];
    bool placed = gpu && gpu->host >= 0;
    char *text = gpu ? mem_printf("%s: %s", gpu->uuid, step->text)
                     : mem_printf("%s", step->text);

    records_put_event(sweep, "W", event, text);
    log_line(LOG_W, event, "%s", text);
    if (placed)
        progress_say(sweep->reactor.progress, "%s, GPU %d: %s",
                     sweep->fleet.hosts[gpu->host].host->name, gpu->gpu,
                     step->text);
    else
        progress_say(sweep->reactor.progress, "%s", text);
    free(text);
}

/* If the baseline cannot be built, there is no canary. */
static void give_up(struct sweep *sweep)
{
    static const struct gpu_trust_step step = {
        .gpu = -1,
        .text = "the baseline cannot be built, so there is no canary; times of "
                "different GPUs are not normalised"
    };

    canary_of(sweep)->off = true;
    say(sweep, "CANARY-OFF", &step);
}

static void ask_canary(struct sweep *sweep, int number)
{
    struct canary_run *canary = canary_of(sweep);
    struct canary_gpu *gpu = &canary->gpus[number];
    int reference = plan_units(sweep->work.plan);

    gpu->order =
        orders_place(sweep, &(struct sched_order){ .unit = CANARY_UNIT,
                                                   .shape = CANARY_SHAPE,
                                                   .host = gpu->host,
                                                   .gpu = gpu->gpu,
                                                   .purpose = SCHED_CANARY,
                                                   .pass = canary->pass,
                                                   .round = canary->round++ });
    if (gpu->order)
        return;
    if (sched_job(sweep->work.sched, JOB_BUILD, CANARY_UNIT, 0)->state ==
            JOB_FAILED ||
        sched_job(sweep->work.sched, JOB_BUILD, reference, 0)->state ==
            JOB_FAILED)
        give_up(sweep);
    else
        gpu_trust_canary_gone(canary->trust, number);
}

static void ask_again(struct sweep *sweep, int number, int job)
{
    struct canary_run *canary = canary_of(sweep);
    int shapes = plan_shapes(sweep->work.plan);
    struct sched_order order = { .unit = job / shapes,
                                 .shape = job % shapes,
                                 .host = canary->gpus[number].host,
                                 .gpu = canary->gpus[number].gpu,
                                 .purpose = SCHED_AGAIN,
                                 .pass = canary->pass,
                                 .round = ++canary->rounds[job] };

    canary->again_on[job] = number;
    if (!orders_place(sweep, &order))
        gpu_trust_again_ended(canary->trust, number, job, false);
}

static void rest(struct sweep *sweep, int number, bool rests)
{
    const struct canary_gpu *gpu = &canary_of(sweep)->gpus[number];

    if (gpu->host >= 0)
        sched_gpu_rest(sweep->work.sched, gpu->host, gpu->gpu, rests);
}

static void quarantine(struct sweep *sweep, int number)
{
    const struct canary_gpu *gpu = &canary_of(sweep)->gpus[number];

    rest(sweep, number, true);
    if (gpu->host >= 0)
        sched_orders_drop(sweep->work.sched, gpu->host, gpu->gpu,
                          "it is quarantined");
}

static void take_step(struct sweep *sweep, const struct gpu_trust_step *step)
{
    switch (step->act) {
    case GPU_TRUST_CANARY:
        ask_canary(sweep, step->gpu);
        return;
    case GPU_TRUST_AGAIN:
        ask_again(sweep, step->gpu, step->job);
        return;
    case GPU_TRUST_REST:
        say(sweep, "GPU-RESTS", step);
        rest(sweep, step->gpu, true);
        return;
    case GPU_TRUST_GO_ON:
        say(sweep, "GPU-GOES-ON", step);
        rest(sweep, step->gpu, false);
        return;
    case GPU_TRUST_QUARANTINE:
        say(sweep, "GPU-QUARANTINED", step);
        quarantine(sweep, step->gpu);
        return;
    case GPU_TRUST_SAY:
        say(sweep, "IN-DOUBT", step);
        return;
    }
}

static void canary_turn(struct sweep *sweep, struct pass *pass)
{
    struct canary_run *canary = pass->state;
    struct gpu_trust_step step;

    for (int i = 0; !canary->off && i < STEPS_A_TURN; i++) {
        bool over = sched_open_jobs(sweep->work.sched) ==
                    sched_open_orders(sweep->work.sched);

        if (!gpu_trust_next(canary->trust, now_s(sweep), over, &step))
            return;
        take_step(sweep, &step);
    }
}

static void canary_waits_for(const struct sweep *sweep, const struct pass *pass,
                             pass_wait_fn *tell, void *arg)
{
    const struct canary_run *canary = pass->state;
    struct pass_wait rest = { .what = "the canary of a GPU that rests" };
    double rested_s = gpu_trust_rested_s(canary->trust);
    int asked = 0;

    for (int i = 0; i < canary->n_gpus; i++) {
        if (!canary->gpus[i].order)
            continue;
        asked++;
        tell(arg, &(struct pass_wait){ .what = "the canary of a GPU",
                                       .end = PASS_WAIT_ORDER,
                                       .order = canary->gpus[i].order });
    }
    if (canary->off || !gpu_trust_waits(canary->trust))
        return;
    if (isfinite(rested_s)) {
        rest.end = PASS_WAIT_TIME;
        rest.until_ns =
            reactor_now(sweep) + (int64_t)((rested_s - now_s(sweep)) * 1e9);
        tell(arg, &rest);
    } else if (asked == 0) {
        tell(arg, &rest);
    }
}

const struct pass_ops canary_pass = {
    .name = "canary",
    .purposes = 1U << SCHED_CANARY,
    .start.begin = canary_begin,
    .turn = canary_turn,
    .host_up = canary_host_up,
    .host_down = canary_host_down,
    .measured = canary_measured,
    .ended = order_ended,
    .bans = canary_bans,
    .amounts.samples = canary_samples,
    .waits_for = canary_waits_for,
    .free = canary_free,
};
