#include "coordinator/forecast/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/forecast/forecast_internal.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/replay/replay.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_reserve.h"

/* One confirmation takes so much more or less than another. */
#define CONFIRM_FACTOR 2.5

static int load(const struct run *run, const char *db, struct stored_pace *out,
                struct err *err)
{
    struct store *store = NULL;
    int rc;

    if (db == run->db && dbfile_is_new(db))
        return 0;
    rc = store_open(db, STORE_READ, &store, err);
    if (rc == 0)
        rc = stored_pace_load(store, run->spec->file.text, out, err);
    store_close(store);
    return rc;
}

/* Is it of this device, and does it say enough? */
static bool teaches(const struct run *run, const struct stored_pace *pace)
{
    return strcmp(pace->device, run->set.device) == 0 &&
           pace->build.n >= FORECAST_BUILDS_LEAST &&
           pace->measure.n >= FORECAST_BUILDS_LEAST;
}

/* From its own database, or else from the one that is named. */
static int learn(struct forecast *out, struct err *err)
{
    const struct run *run = out->run;
    const char *from[] = { run->db, run->set.times };
    int rc = 0;

    for (size_t i = 0; i < 2 && rc == 0 && !out->learnt_from; i++) {
        struct stored_pace pace = { .device = "" };

        if (!from[i])
            continue;
        rc = load(run, from[i], &pace, err);
        if (rc == 0 && i == 0 && pace.same_space &&
            strcmp(pace.device, run->set.device) == 0)
            out->settled = pace.settled;
        if (rc == 0 && teaches(run, &pace)) {
            out->pace = pace;
            out->learnt_from = from[i];
        } else {
            stored_pace_fini(&pace);
        }
    }
    return rc;
}

static struct estimate_pace pace_of(const struct stored_pace_kind *kind)
{
    double variance = kind->square_s2 - kind->mean_s * kind->mean_s;

    if (kind->n == 0)
        return (struct estimate_pace){ 0 };
    return (struct estimate_pace){ (double)kind->n, kind->mean_s,
                                   sqrt(fmax(variance, 0)) };
}

/* Of all its runs, weighted by how long they took.  In a replay at another
 * speed, what is not work takes another share. */
static double stretch_of(const struct stored_pace *pace, double speed_up)
{
    double sum = 0, weight = 0;

    if (pace->speed_up != speed_up)
        return 0;
    for (size_t i = 0; i < pace->n_runs; i++) {
        const struct stored_pace_run *run = &pace->runs[i];
        double faster = speed_up > 0 ? speed_up : 1;
        struct estimate_ran ran = { .builds = (double)run->builds,
                                    .build_s = run->build_s / faster,
                                    .slots = (double)run->slots,
                                    .measurements = (double)run->measurements,
                                    .measure_s = run->measure_s / faster,
                                    .gpus = (double)run->gpus,
                                    .wall_s = run->wall_s };
        double stretch = estimate_stretch(&ran);

        if (stretch > 0) {
            sum += log(stretch) * run->wall_s;
            weight += run->wall_s;
        }
    }
    return weight > 0 ? exp(sum / weight) : 0;
}

/* Of its runs: from the shortest to the longest. */
static struct estimate_range start_of(const struct stored_pace *pace)
{
    struct estimate_range range = { 0, 0, 0 };

    for (size_t i = 0; i < pace->n_runs; i++) {
        double s = fmax(pace->runs[i].start_s, 0.01);

        range.low = i == 0 ? s : fmin(range.low, s);
        range.high = fmax(range.high, s);
        range.likely += s / (double)pace->n_runs;
    }
    return range;
}

static void take_times(struct forecast *out)
{
    const struct run *run = out->run;
    struct estimate_times *times = &out->problem.times;
    double speed_up = run->replay ? replay_speed_up(run->replay) : 0;

    *times = (struct estimate_times){ .source = ESTIMATE_DEFAULTS,
                                      .is_local = hosts_are_local(&run->hosts),
                                      .speed_up = speed_up };
    if (!out->learnt_from)
        return;
    times->source = out->pace.same_space && out->learnt_from == run->db
                        ? ESTIMATE_THIS_SPACE
                        : ESTIMATE_EARLIER;
    times->build = pace_of(&out->pace.build);
    times->measure = pace_of(&out->pace.measure);
    times->stretch = stretch_of(&out->pace, speed_up);
    times->start_s = start_of(&out->pace);
}

/* A confirmation: as it was, or else with the fewest contestants and blocks,
 * and with the most that the caps are kept back for. */
static struct estimate_range then_of(const struct run *run,
                                     const struct run_reserve_past *past,
                                     double was_s)
{
    const struct spec_confirm *confirm = &run->spec->confirm;
    struct reserve_pass most, least;
    struct estimate_range range = { 0, 0, 0 };

    if (confirm->off)
        return range;
    if (was_s > 0)
        return (struct estimate_range){ was_s / CONFIRM_FACTOR, was_s,
                                        was_s * CONFIRM_FACTOR };
    run_reserve_pass(run, &most);
    least = most;
    least.contestants = 2;
    if (confirm->blocks_group > 0 && confirm->blocks_group < least.blocks)
        least.blocks = least.external_blocks = confirm->blocks_group;
    range.high = reserve_s(&most, &past->times);
    range.low = reserve_usual_s(&least, &past->times) / 2;
    range.likely = sqrt(range.low * range.high);
    return range;
}

static double reserve_of(const struct run *run,
                         const struct run_reserve_past *past)
{
    struct reserve_pass pass;

    if (run->spec->confirm.off)
        return 0;
    run_reserve_pass(run, &pass);
    return reserve_s(&pass, &past->times);
}

int forecast_make(const struct run *run, int64_t evaluations, size_t shapes,
                  struct forecast *out, struct err *err)
{
    struct run_reserve_past past;
    int64_t left;
    int rc;

    *out = (struct forecast){ .run = run };
    rc = run_reserve_past(run, &past, err);
    if (rc == 0)
        rc = learn(out, err);
    if (rc < 0)
        return rc;
    out->spent_usd = past.used_usd;
    out->reserve_s = reserve_of(run, &past);
    left = evaluations > out->settled ? evaluations - out->settled : 0;
    take_times(out);
    forecast_hosts(run, left, left * (int64_t)shapes, out);
    out->problem.machines = out->machines;
    out->problem.n = out->n;
    out->problem.work = (struct estimate_work){
        .builds = (double)left,
        .measurements = (double)(left * (int64_t)shapes),
        .then_s =
            then_of(run, &past, out->learnt_from ? out->pace.confirm_s : 0),
    };
    estimate_make(&out->problem, out->counts, &out->estimate);
    return 0;
}

void forecast_fini(struct forecast *forecast)
{
    stored_pace_fini(&forecast->pace);
    free(forecast->machines);
    free(forecast->counts);
    *forecast = (struct forecast){ .run = NULL };
}
