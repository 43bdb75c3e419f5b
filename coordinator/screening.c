#include "coordinator/screening.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/stats.h"
#include "coordinator/calibration.h"
#include "coordinator/report.h"
#include "coordinator/samples.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

/* What differs from one measurement to the next on a calm GPU, where the
 * canaries are too few to tell: the practical floor of a difference. */
#define BETWEEN 0.005
#define CANARIES_TO_TELL 5

struct level {
    struct canary *canaries;
    size_t n;
    char **gpus; /* UUIDs, their index is the number */
    int n_gpus;
};

static int gpu_number(struct level *level, const char *uuid)
{
    for (int i = 0; i < level->n_gpus; i++)
        if (strcmp(level->gpus[i], uuid) == 0)
            return i;
    level->gpus =
        mem_grow(level->gpus, (size_t)level->n_gpus + 1, sizeof(*level->gpus));
    level->gpus[level->n_gpus] = mem_strdup(uuid);
    return level->n_gpus++;
}

static double seconds_of(int64_t utc_ns)
{
    return (double)utc_ns / (double)NS_PER_S;
}

static int load_canaries(struct store *store, const struct report *report,
                         struct level *level, struct err *err)
{
    static const char text[] =
        "SELECT r.gpu, r.received_utc, r.samples"
        " FROM result r JOIN config c ON c.key=r.config"
        "  AND c.source_key=r.source_key WHERE c.sweep=?1 AND c.baseline=1"
        " AND r.purpose='canary' AND r.counted=1 AND r.outcome='correct'"
        " AND r.shape=?2 ORDER BY r.received_utc";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "Is", report->sweep, report->shapes[0].name);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        double seconds = samples_median(sql_text(stmt, 2));

        if (!(seconds > 0))
            continue;
        level->canaries =
            mem_grow(level->canaries, level->n + 1, sizeof(*level->canaries));
        level->canaries[level->n++] =
            (struct canary){ gpu_number(level, sql_text(stmt, 0)),
                             seconds_of(sql_int(stmt, 1)), seconds };
    }
    sql_free(stmt);
    return rc < 0 ? rc : 0;
}

/* When each configuration was measured, by its nonce. */
static int load_instants(struct store *store, const struct report *report,
                         double *out, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store),
                         "SELECT received_utc FROM result WHERE nonce=?", &stmt,
                         err);

    for (size_t i = 0; rc == 0 && i < report->n_configs; i++) {
        if (!report->configs[i].rank)
            continue;
        rc = sql_start(stmt, err, "s", report->configs[i].cells[0].nonce);
        if (rc == 0)
            rc = sql_step(stmt, err);
        if (rc == 1)
            out[i] = seconds_of(sql_int(stmt, 0));
        if (rc >= 0) {
            sql_reset(stmt);
            rc = 0;
        }
    }
    sql_free(stmt);
    return rc;
}

static double median_of(double *values, size_t n, double otherwise)
{
    struct summary summary;

    if (n == 0)
        return otherwise;
    stats_summary(values, n, &summary);
    return summary.median;
}

/* Of one canary around its line, over the GPUs that have enough of them. */
static double noise_between(const struct calibration *calibration)
{
    const struct calibration_rules rules = CALIBRATION_RULES;
    size_t n = calibration_gpus(calibration), kept = 0;
    double *noises = mem_new(n + 1, sizeof(*noises)), noise;

    for (size_t i = 0; i < n; i++) {
        struct calibration_gpu gpu;

        calibration_gpu(calibration, i, &rules, &gpu);
        if (gpu.n_canaries >= CANARIES_TO_TELL)
            noises[kept++] = gpu.noise;
    }
    noise = median_of(noises, kept, BETWEEN);
    free(noises);
    return noise;
}

static double typical_noise(const struct screened *screened, size_t n)
{
    double *sds = mem_new(n + 1, sizeof(*sds)), noise;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(screened[i].seconds) && screened[i].n_samples > 1)
            sds[kept++] = screened[i].sd;
    noise = median_of(sds, kept, 0);
    free(sds);
    return noise;
}

/* A GPU without canaries counts as it is. */
static double scale_at(const struct calibration *calibration, int gpu,
                       double at_s)
{
    double scale = calibration_normalise(calibration, 1, gpu, at_s);

    return isnan(scale) ? 1 : scale;
}

int screening_choose(struct store *store, const struct report *report,
                     const struct screening_rules *rules, const bool *out_of_it,
                     bool *chosen, struct finalists *out, struct err *err)
{
    size_t n = report->n_configs;
    struct screened *screened = mem_new(n + 1, sizeof(*screened));
    double *instants = mem_new(n + 1, sizeof(*instants));
    struct calibration *calibration = NULL;
    struct level level = { 0 };
    int rc = load_canaries(store, report, &level, err);

    if (rc == 0)
        rc = load_instants(store, report, instants, err);
    if (rc == 0) {
        struct finalist_rules how = { .alpha = rules->alpha,
                                      .cap = rules->cap };

        calibration = calibration_new(level.canaries, level.n);
        for (size_t i = 0; i < n; i++) {
            const struct report_config *config = &report->configs[i];
            const struct report_cell *cell = &config->cells[0];

            screened[i] = (struct screened){ (double)NAN, 1, 0 };
            if (config->rank && !config->baseline && !out_of_it[i])
                finalists_screen(cell->samples, cell->n_samples,
                                 scale_at(calibration,
                                          gpu_number(&level, cell->gpu),
                                          instants[i]),
                                 &screened[i]);
        }
        how.noise = typical_noise(screened, n);
        how.between = noise_between(calibration);
        finalists_choose(screened, n, &how, chosen, out);
    }
    calibration_free(calibration);
    for (int i = 0; i < level.n_gpus; i++)
        free(level.gpus[i]);
    free(level.gpus);
    free(level.canaries);
    free(instants);
    free(screened);
    return rc;
}
