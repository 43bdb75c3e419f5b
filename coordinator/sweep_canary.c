/* The baseline as a canary, on each GPU; what warden.h makes of it is done. */
#include "coordinator/sweep_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/stats.h"
#include "coordinator/replay.h"
#include "coordinator/samples.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"
#include "coordinator/warden.h"

#define EVERY 50      /* RELIABILITY: about every 50 measurements */
#define REST_S 5      /* the first; three in a row are 30 s */
#define AGAIN_SHARE 5 /* one measurement in so many may be repeated */
#define STEPS_A_TURN 1000

/* The baseline is the first unit, the headline the first shape. */
enum {
    CANARY_UNIT = 0,
    CANARY_SHAPE = 0
};

/* A GPU by the number that the warden has for it. */
struct canary_gpu {
    char uuid[128];
    int host, gpu; /* where it is; host -1 while it is nowhere */
    int64_t order; /* of its canary, 0 for none */
};

struct sweep_canary {
    struct warden *warden;
    struct canary_gpu *gpus;
    int n_gpus;
    int round;     /* of the next canary */
    int *rounds;   /* of each measurement, the newest asked for */
    int *again_on; /* and the number of the GPU it was asked for on */
    bool off;
};

static int job_of(const struct sweep *sweep, int unit, int shape)
{
    return unit * plan_shapes(sweep->plan) + shape;
}

static double now_s(void)
{
    return (double)clock_utc_ns() / 1e9;
}

static int number_of(struct sweep_canary *canary, const char *uuid)
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

static void had_canary(struct sweep *sweep, struct sqlite3_stmt *stmt)
{
    struct sweep_canary *canary = sweep->canary;
    double seconds = samples_median(sql_text(stmt, 2));

    if (seconds > 0)
        warden_had_canary(canary->warden, number_of(canary, sql_text(stmt, 0)),
                          (double)sql_int(stmt, 1) / 1e9, seconds);
}

static void had_result(struct sweep *sweep, struct sqlite3_stmt *stmt)
{
    struct sweep_canary *canary = sweep->canary;
    int unit = plan_find(sweep->plan, sql_text(stmt, 0));
    int shape = plan_find_shape(sweep->plan, sql_text(stmt, 1));

    if (unit >= 0 && shape >= 0 &&
        strcmp(sql_text(stmt, 2), plan_unit(sweep->plan, unit)->source_key) ==
            0 &&
        strcmp(sql_text(stmt, 3), plan_measure_key(sweep->plan, shape)) == 0)
        warden_had(canary->warden, number_of(canary, sql_text(stmt, 4)),
                   job_of(sweep, unit, shape),
                   (int)(sql_int(stmt, 5) % SWEEP_RUNG_ROUNDS),
                   (double)sql_int(stmt, 6) / 1e9);
}

static void had_round(struct sweep *sweep, struct sqlite3_stmt *stmt)
{
    int unit = plan_find(sweep->plan, sql_text(stmt, 0));
    int shape = plan_find_shape(sweep->plan, sql_text(stmt, 1));

    if (unit >= 0 && shape >= 0)
        sweep->canary->rounds[job_of(sweep, unit, shape)] =
            (int)sql_int(stmt, 2);
}

/* By an earlier pass of this command. */
static void was_banned(struct sweep *sweep, struct sqlite3_stmt *stmt)
{
    warden_ban(sweep->canary->warden,
               number_of(sweep->canary, sql_text(stmt, 0)));
}

static void next_round(struct sweep *sweep, struct sqlite3_stmt *stmt)
{
    sweep->canary->round = (int)sql_int(stmt, 0);
}

/* The first pass of the command. */
static int64_t began_utc(const struct sweep *sweep)
{
    return sweep->epoch -
           (int64_t)(sweep->options->hours_before * 3600 * (double)NS_PER_S);
}

static int recall(struct sweep *sweep, struct err *err)
{
    static const struct {
        const char *text;
        void (*row)(struct sweep *, struct sqlite3_stmt *);
    } queries[] = {
        { "SELECT gpu, received_utc, samples FROM result WHERE counted=1"
          " AND purpose='canary' AND outcome='correct' AND config=?1"
          " AND shape=?2 AND source_key=?3 AND measure_key=?4"
          " ORDER BY received_utc",
          had_canary },
        { "SELECT o.config, o.shape, o.source_key, o.measure_key, r.gpu,"
          " r.round, r.received_utc FROM outcome o"
          " JOIN result r ON r.nonce=o.nonce WHERE o.outcome='correct'",
          had_result },
        { "SELECT config, shape, max(round) FROM lease WHERE stage='measure'"
          " AND purpose='screen' AND round>0 GROUP BY config, shape",
          had_round },
        { "SELECT coalesce(max(round)+1, 0) FROM lease WHERE purpose='canary'",
          next_round },
        { "SELECT g.uuid FROM event e, gpu g WHERE e.name='GPU-QUARANTINED'"
          " AND instr(e.text, g.uuid||': ')=1 AND e.at_utc>=?1",
          was_banned },
    };
    const struct plan_unit *unit = plan_unit(sweep->plan, CANARY_UNIT);
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < sizeof(queries) / sizeof(*queries); i++) {
        struct sqlite3_stmt *stmt = NULL;

        rc = sql_prepare(store_db(sweep->store), queries[i].text, &stmt, err);
        if (rc == 0 && i == 0)
            rc = sql_start(stmt, err, "ssss", unit->key,
                           plan_shape_name(sweep->plan, CANARY_SHAPE),
                           unit->source_key,
                           plan_measure_key(sweep->plan, CANARY_SHAPE));
        if (rc == 0 && queries[i].row == was_banned)
            rc = sql_start(stmt, err, "I", began_utc(sweep));
        while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
            queries[i].row(sweep, stmt);
        sql_free(stmt);
    }
    return rc;
}

/* ---- GPUs come and go ---- */

/* Its times are noise, and no rest makes them better. */
static bool is_emulated(const struct sweep *sweep)
{
    return strcmp(sweep->options->device, "cpu") == 0;
}

static int every(const struct sweep *sweep)
{
    if (sweep->spec->measure.canary_every >= 0)
        return sweep->spec->measure.canary_every;
    return is_emulated(sweep) ? 0 : EVERY;
}

/* A replayed GPU rests as fast as its other time passes. */
static double rest_s(const struct sweep *sweep)
{
    if (sweep->spec->replay)
        return REST_S / replay_speed_up(sweep->spec->replay);
    return is_emulated(sweep) ? 0 : REST_S;
}

int sweep_canary_begin(struct sweep *sweep, struct err *err)
{
    int jobs = plan_units(sweep->plan) * plan_shapes(sweep->plan);
    struct warden_rules rules = { .every = every(sweep),
                                  .line = CALIBRATION_RULES,
                                  .rest_s = rest_s(sweep),
                                  .again_max = jobs / AGAIN_SHARE };

    if (rules.every == 0 || jobs == 0 ||
        (sweep->options->ask && !sweep->options->contest) ||
        !plan_unit(sweep->plan, CANARY_UNIT)->baseline)
        return 0;
    if (rules.again_max < 2 * rules.every) /* at least a window or two */
        rules.again_max = 2 * rules.every;
    sweep->canary = mem_new(1, sizeof(*sweep->canary));
    sweep->canary->warden = warden_new(&rules, jobs);
    /* A contest has the baseline in every block, and is told whom to leave
     * out. */
    sweep->canary->off = sweep->options->contest != NULL;
    sweep->canary->rounds = mem_new((size_t)jobs, sizeof(int));
    sweep->canary->again_on = mem_new((size_t)jobs, sizeof(int));
    return recall(sweep, err);
}

void sweep_canary_free(struct sweep *sweep)
{
    if (!sweep->canary)
        return;
    warden_free(sweep->canary->warden);
    free(sweep->canary->gpus);
    free(sweep->canary->rounds);
    free(sweep->canary->again_on);
    free(sweep->canary);
}

static void has_gone(struct sweep_canary *canary, int number)
{
    if (canary->gpus[number].host >= 0)
        warden_gpu(canary->warden, number, false);
    canary->gpus[number].host = -1;
}

void sweep_canary_lost(struct sweep *sweep, size_t host)
{
    for (int i = 0; sweep->canary && i < sweep->canary->n_gpus; i++)
        if (sweep->canary->gpus[i].host == (int)host)
            has_gone(sweep->canary, i);
}

/* After a new connection its GPUs may be others, or in another order. */
void sweep_canary_box(struct sweep *sweep, size_t host)
{
    struct sweep_canary *canary = sweep->canary;
    const struct box *box = &sweep->boxes[host];

    if (!canary)
        return;
    for (int i = 0; i < canary->n_gpus; i++) {
        const struct canary_gpu *at = &canary->gpus[i];

        if (at->host == (int)host &&
            (at->gpu >= box->n_gpus ||
             strcmp(at->uuid, box->gpus[at->gpu].uuid) != 0))
            has_gone(canary, i);
    }
    for (int g = 0; g < box->n_gpus; g++) {
        int number = number_of(canary, box->gpus[g].uuid);
        bool is_new = canary->gpus[number].host < 0;

        canary->gpus[number].host = (int)host;
        canary->gpus[number].gpu = g;
        if (is_new)
            warden_gpu(canary->warden, number, true);
        sched_gpu_rest(sweep->sched, (int)host, g,
                       !warden_is_trusted(canary->warden, number));
    }
}

bool sweep_canary_bans(const struct sweep *sweep, size_t host, int gpu)
{
    for (int i = 0; sweep->canary && i < sweep->canary->n_gpus; i++)
        if (sweep->canary->gpus[i].host == (int)host &&
            sweep->canary->gpus[i].gpu == gpu)
            return warden_is_quarantined(sweep->canary->warden, i);
    return false;
}

/* ---- results ---- */

static double median_of(const struct msg *msg)
{
    struct summary times;

    stats_summary(msg->samples.items, msg->samples.n, &times);
    return times.median;
}

void sweep_canary_measured(struct sweep *sweep, const struct sched_lease *job,
                           const struct msg *msg)
{
    bool timed = strcmp(msg->outcome, "correct") == 0 && msg->samples.n > 0;
    struct sweep_canary *canary = sweep->canary;
    int number = job_of(sweep, job->unit, job->shape);

    if (!canary)
        return;
    if (job->round > canary->rounds[number])
        canary->rounds[number] = job->round;
    warden_measured(canary->warden, number_of(canary, msg->gpu),
                    timed ? number : -1, now_s());
}

/* The order is over: which GPU's canary it was, or -1. */
static int take_order(struct sweep_canary *canary, int64_t order)
{
    for (int i = 0; i < canary->n_gpus; i++)
        if (canary->gpus[i].order == order) {
            canary->gpus[i].order = 0;
            return i;
        }
    return -1;
}

void sweep_canary_ended(struct sweep *sweep, const struct sched_lease *lease,
                        const struct msg *result)
{
    struct sweep_canary *canary = sweep->canary;
    int number = take_order(canary, lease->order);

    if (number < 0)
        return;
    if (!result && lease->attempt > sweep->options->attempts)
        warden_canary_wrong(canary->warden, number, "its process died");
    else if (!result)
        warden_canary_gone(canary->warden, number);
    else if (strcmp(result->outcome, "correct") != 0 || result->samples.n == 0)
        warden_canary_wrong(canary->warden, number,
                            *result->detail ? result->detail : result->outcome);
    else
        warden_canary(canary->warden, number, now_s(), median_of(result));
}

void sweep_again_ended(struct sweep *sweep, const struct sched_lease *lease,
                       const struct msg *result)
{
    struct sweep_canary *canary = sweep->canary;
    int job = job_of(sweep, lease->unit, lease->shape);

    warden_again_ended(canary->warden, canary->again_on[job], job,
                       result != NULL);
}

/* ---- what the warden asks for ---- */

static void say(struct sweep *sweep, const char *event,
                const struct warden_step *step)
{
    const struct canary_gpu *gpu =
        step->gpu < 0 ? NULL : &sweep->canary->gpus[step->gpu];
    bool placed = gpu && gpu->host >= 0;
    char *text = gpu ? mem_printf("%s: %s", gpu->uuid, step->text)
                     : mem_printf("%s", step->text);

    sweep_put_event(sweep, "W", event, text);
    log_line(LOG_W, event, "%s", text);
    if (placed)
        progress_say(sweep->progress, "%s, GPU %d: %s",
                     sweep->boxes[gpu->host].host->name, gpu->gpu, step->text);
    else
        progress_say(sweep->progress, "%s", text);
    free(text);
}

/* Without a baseline that can be built there is no canary. */
static void give_up(struct sweep *sweep)
{
    static const struct warden_step step = {
        .gpu = -1,
        .text = "the baseline cannot be built, so there is no canary; times of "
                "different GPUs are not normalised"
    };

    sweep->canary->off = true;
    say(sweep, "CANARY-OFF", &step);
}

static void ask_canary(struct sweep *sweep, int number)
{
    struct sweep_canary *canary = sweep->canary;
    struct canary_gpu *gpu = &canary->gpus[number];
    int reference = plan_units(sweep->plan);

    gpu->order =
        sweep_order(sweep, &(struct sched_order){ .unit = CANARY_UNIT,
                                                  .shape = CANARY_SHAPE,
                                                  .host = gpu->host,
                                                  .gpu = gpu->gpu,
                                                  .purpose = SCHED_CANARY,
                                                  .round = canary->round++ });
    if (gpu->order)
        return;
    if (sched_job(sweep->sched, JOB_BUILD, CANARY_UNIT, 0)->state ==
            JOB_FAILED ||
        sched_job(sweep->sched, JOB_BUILD, reference, 0)->state == JOB_FAILED)
        give_up(sweep);
    else
        warden_canary_gone(canary->warden, number);
}

static void ask_again(struct sweep *sweep, int number, int job)
{
    struct sweep_canary *canary = sweep->canary;
    int shapes = plan_shapes(sweep->plan);
    struct sched_order order = { .unit = job / shapes,
                                 .shape = job % shapes,
                                 .host = canary->gpus[number].host,
                                 .gpu = canary->gpus[number].gpu,
                                 .purpose = SCHED_AGAIN,
                                 .round = ++canary->rounds[job] };

    canary->again_on[job] = number;
    if (!sweep_order(sweep, &order))
        warden_again_ended(canary->warden, number, job, false);
}

static void rest(struct sweep *sweep, int number, bool rests)
{
    const struct canary_gpu *gpu = &sweep->canary->gpus[number];

    if (gpu->host >= 0)
        sched_gpu_rest(sweep->sched, gpu->host, gpu->gpu, rests);
}

static void quarantine(struct sweep *sweep, int number)
{
    const struct canary_gpu *gpu = &sweep->canary->gpus[number];

    rest(sweep, number, true);
    if (gpu->host >= 0)
        sched_orders_drop(sweep->sched, gpu->host, gpu->gpu,
                          "it is quarantined");
}

static void take_step(struct sweep *sweep, const struct warden_step *step)
{
    switch (step->act) {
    case WARDEN_CANARY:
        ask_canary(sweep, step->gpu);
        return;
    case WARDEN_AGAIN:
        ask_again(sweep, step->gpu, step->job);
        return;
    case WARDEN_REST:
        say(sweep, "GPU-RESTS", step);
        rest(sweep, step->gpu, true);
        return;
    case WARDEN_GO_ON:
        say(sweep, "GPU-GOES-ON", step);
        rest(sweep, step->gpu, false);
        return;
    case WARDEN_QUARANTINE:
        say(sweep, "GPU-QUARANTINED", step);
        quarantine(sweep, step->gpu);
        return;
    case WARDEN_SAY:
        say(sweep, "IN-DOUBT", step);
        return;
    }
}

void sweep_canary_turn(struct sweep *sweep)
{
    struct sweep_canary *canary = sweep->canary;
    struct warden_step step;

    for (int i = 0; canary && !canary->off && i < STEPS_A_TURN; i++) {
        bool over =
            sched_open_jobs(sweep->sched) == sched_open_orders(sweep->sched);

        if (!warden_next(canary->warden, now_s(), over, &step))
            return;
        take_step(sweep, &step);
    }
}

bool sweep_canary_waits(const struct sweep *sweep)
{
    return sweep->canary && !sweep->canary->off &&
           warden_waits(sweep->canary->warden);
}
