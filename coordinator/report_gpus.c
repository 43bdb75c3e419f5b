#include "coordinator/report_gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/report.h"
#include "coordinator/report_current.h"
#include "coordinator/samples.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"
#include "coordinator/terminal.h"

#define AGREE_WITHIN 0.01
#define AGREE_CONFIDENCE 0.95

/* ?2 is the headline shape. */
#define AT_HEADLINE " AND r.outcome='correct' AND r.shape=?2"

static const char gpus_query[] =
    "SELECT g.uuid, g.name, g.host,"
    " (SELECT count(*) FROM result r WHERE r.gpu=g.uuid AND r.counted=1"
    "  AND r.purpose='screen'),"
    " (SELECT count(*) FROM result r WHERE r.gpu=g.uuid AND r.counted=1"
    "  AND r.purpose='screen' AND r.round>0),"
    " (SELECT text FROM event e WHERE e.name='GPU-QUARANTINED'"
    "  AND instr(e.text, g.uuid||': ')=1 AND e.at_utc>=s.created_utc"
    "  ORDER BY e.id DESC LIMIT 1)"
    " FROM sweep s, gpu g LEFT JOIN host h ON h.name=g.host"
    " WHERE s.id=?1 AND ?2 IS NOT NULL AND EXISTS(SELECT 1 FROM result r"
    "  JOIN config c ON c.key=r.config AND c.sweep=?1 WHERE r.gpu=g.uuid)"
    " ORDER BY h.position, g.position, g.uuid";

#define TIMES "r.gpu, r.received_utc, r.samples"

static const char canaries_query[] =
    REPORT_CURRENT_RESULTS(TIMES, "'canary'") AT_HEADLINE " AND c.baseline=1";

/* In a confirmation the baseline is measured as often as all others. */
static const char baselines_query[] =
    REPORT_CURRENT_RESULTS(TIMES, "'confirm'") AT_HEADLINE " AND c.baseline=1";

static const char witnesses_query[] = REPORT_CURRENT_RESULTS(
    TIMES ", r.config, r.purpose='confirm'", "'screen','confirm'") AT_HEADLINE
    " AND c.baseline=0 ORDER BY r.config";

/* What is collected on the way. */
struct loading {
    struct report *report;
    struct canary *canaries;
    size_t n_canaries;
    struct calibration *screened, *confirmed;
    struct witness *witnesses;
    size_t n_witnesses;
    char last[HASH_HEX]; /* configuration, of the last witness */
    int64_t n_configs;
};

static int gpu_of(const struct report *report, const char *uuid)
{
    for (size_t i = 0; i < report->n_gpus; i++)
        if (strcmp(report->gpus[i].uuid, uuid) == 0)
            return (int)i;
    return -1;
}

static double at_s(int64_t utc_ns)
{
    return (double)utc_ns / 1e9;
}

static char *clean_copy(struct sqlite3_stmt *stmt, int column)
{
    return terminal_clean(mem_strdup(sql_text(stmt, column)), false);
}

static void add_gpu(struct loading *l, struct sqlite3_stmt *stmt)
{
    struct report *report = l->report;
    struct report_gpu *gpu;
    const char *why = sql_text(stmt, 5);

    report->gpus =
        mem_grow(report->gpus, report->n_gpus + 1, sizeof(*report->gpus));
    gpu = &report->gpus[report->n_gpus++];
    *gpu = (struct report_gpu){ .uuid = clean_copy(stmt, 0),
                                .name = clean_copy(stmt, 1),
                                .host = clean_copy(stmt, 2),
                                .measured = sql_int(stmt, 3),
                                .repeated = sql_int(stmt, 4) };
    if (*why)
        gpu->quarantined = terminal_clean(
            mem_strdup(why + strlen(sql_text(stmt, 0)) + strlen(": ")), false);
}

static void add_canary(struct loading *l, struct sqlite3_stmt *stmt)
{
    double seconds = samples_median(sql_text(stmt, 2));
    int gpu = gpu_of(l->report, sql_text(stmt, 0));

    if (gpu < 0 || !(seconds > 0))
        return;
    l->canaries =
        mem_grow(l->canaries, l->n_canaries + 1, sizeof(*l->canaries));
    l->canaries[l->n_canaries++] = (struct canary){
        .gpu = gpu, .at_s = at_s(sql_int(stmt, 1)), .seconds = seconds
    };
}

/* Screened and confirmed are two sets, each normalised by its own baseline. */
static void add_witness(struct loading *l, struct sqlite3_stmt *stmt)
{
    bool confirmed = sql_int(stmt, 4) != 0;
    int gpu = gpu_of(l->report, sql_text(stmt, 0));
    double seconds = calibration_normalise(
        confirmed ? l->confirmed : l->screened,
        samples_median(sql_text(stmt, 2)), gpu, at_s(sql_int(stmt, 1)));

    if (strcmp(l->last, sql_text(stmt, 3)) != 0)
        l->n_configs++;
    snprintf(l->last, sizeof(l->last), "%s", sql_text(stmt, 3));
    if (gpu < 0 || !(seconds > 0))
        return;
    l->witnesses =
        mem_grow(l->witnesses, l->n_witnesses + 1, sizeof(*l->witnesses));
    l->witnesses[l->n_witnesses++] = (struct witness){
        .config = 2 * l->n_configs + confirmed, .gpu = gpu, .seconds = seconds
    };
}

static int each(struct store *store, struct loading *l, const char *text,
                void (*row)(struct loading *, struct sqlite3_stmt *),
                struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "Is", l->report->sweep,
                       l->report->shapes[0].name);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        row(l, stmt);
    sql_free(stmt);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}

static int load_line(struct store *store, struct loading *l, const char *text,
                     struct calibration **out, struct err *err)
{
    int rc;

    l->n_canaries = 0;
    rc = each(store, l, text, add_canary, err);
    *out = calibration_new(l->canaries, l->n_canaries);
    return rc;
}

static void find_agreement(struct loading *l)
{
    struct report *report = l->report;
    struct agreement *found = mem_new(report->n_gpus, sizeof(*found));
    size_t n = agreement(l->witnesses, l->n_witnesses, AGREE_WITHIN,
                         AGREE_CONFIDENCE, found);

    for (size_t i = 0; i < n; i++)
        report->gpus[found[i].gpu].agreement = found[i];
    free(found);
}

static void normalise(struct loading *l)
{
    static const struct calibration_rules rules = CALIBRATION_RULES;
    struct report *report = l->report;

    for (size_t i = 0; i < calibration_gpus(l->screened); i++) {
        struct calibration_gpu found;

        calibration_gpu(l->screened, i, &rules, &found);
        report->gpus[found.gpu].canary = found;
        report->normalised = true;
    }
    for (size_t i = 0; i < report->n_configs; i++)
        for (size_t s = 0; s < report->n_shapes; s++) {
            struct report_cell *cell = &report->configs[i].cells[s];

            cell->normalised_s = calibration_normalise(
                l->screened, cell->summary.median, gpu_of(report, cell->gpu),
                at_s(cell->received_utc));
            cell->time_s = isnan(cell->normalised_s) ? cell->summary.median
                                                     : cell->normalised_s;
        }
}

int report_gpus_load(struct store *store, struct report *report,
                     struct err *err)
{
    struct loading l = { .report = report };
    int rc;

    if (report->n_shapes == 0)
        return 0;
    rc = each(store, &l, gpus_query, add_gpu, err);
    if (rc == 0)
        rc = load_line(store, &l, canaries_query, &l.screened, err);
    if (rc == 0)
        rc = load_line(store, &l, baselines_query, &l.confirmed, err);
    if (rc == 0)
        rc = each(store, &l, witnesses_query, add_witness, err);
    if (rc == 0) {
        normalise(&l);
        find_agreement(&l);
    }
    calibration_free(l.screened);
    calibration_free(l.confirmed);
    free(l.canaries);
    free(l.witnesses);
    return rc;
}

void report_gpus_free(struct report *report)
{
    for (size_t i = 0; i < report->n_gpus; i++) {
        free(report->gpus[i].uuid);
        free(report->gpus[i].name);
        free(report->gpus[i].host);
        free(report->gpus[i].quarantined);
    }
    free(report->gpus);
}
