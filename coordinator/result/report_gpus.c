#include "coordinator/result/report_gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/sql/row.h"
#include "coordinator/text/terminal.h"

#define AGREE_WITHIN 0.01
#define AGREE_CONFIDENCE 0.95

static const char gpus_query[] =
    "SELECT g.uuid, g.name, g.host,"
    " (SELECT text FROM event e WHERE e.name='GPU-QUARANTINED'"
    "  AND instr(e.text, g.uuid||': ')=1 AND e.at_utc>=s.created_utc"
    "  ORDER BY e.id DESC LIMIT 1) AS why"
    " FROM sweep s, gpu g LEFT JOIN host h ON h.name=g.host"
    " WHERE s.id=?1 AND EXISTS(SELECT 1 FROM result r"
    "  JOIN config c ON c.key=r.config AND c.sweep=?1 WHERE r.gpu=g.uuid)"
    " ORDER BY h.position, g.position, g.uuid";

struct gpu_row {
    const char *uuid, *name, *host;
    const char *why; /* it was quarantined: its UUID and the reason; or "" */
};

#define GPU(member) ROW_AT(struct gpu_row, member, TEXT)
static const struct row_column gpu_columns[] = { GPU(uuid), GPU(name),
                                                 GPU(host), GPU(why) };
static const struct row_shape gpu_shape = ROW_SHAPE(NULL, gpu_columns);

/* Times of one kind, in the order in which they come. */
struct times {
    struct measured {
        uint32_t config;
        int gpu;
        double at_s, seconds;
    } * items;
    size_t n, cap;
};

struct place {
    const char *uuid; /* borrowed */
    int gpu;
};

struct report_gpus {
    struct report *report;
    struct place *places; /* of the GPUs, by UUID */
    struct canary_calibration *screening, *confirmation; /* NULL: not yet */
    struct times canaries, baselines; /* of the baseline: in screening; in a
                                       * confirmation, where it is measured as
                                       * often as the others */
    struct times screened, confirmed; /* of all others */
};

static int by_uuid(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->uuid,
                  ((const struct place *)b)->uuid);
}

static int gpu_of(const struct report_gpus *gpus, const char *uuid)
{
    const struct place key = { uuid, 0 },
                       *place = gpus->report->n_gpus
                                    ? bsearch(&key, gpus->places,
                                              gpus->report->n_gpus, sizeof(key),
                                              by_uuid)
                                    : NULL;

    return place ? place->gpu : -1;
}

static double at_s(int64_t utc_ns)
{
    return (double)utc_ns / 1e9;
}

static char *clean_copy(const char *text)
{
    return terminal_clean(mem_strdup(text), false);
}

static void add_gpu(void *arg, const void *at)
{
    struct report *report = ((struct report_gpus *)arg)->report;
    const struct gpu_row *row = at;
    struct report_gpu *gpu;

    report->gpus =
        mem_grow(report->gpus, report->n_gpus + 1, sizeof(*report->gpus));
    gpu = &report->gpus[report->n_gpus++];
    *gpu = (struct report_gpu){ .uuid = clean_copy(row->uuid),
                                .name = clean_copy(row->name),
                                .host = clean_copy(row->host) };
    if (*row->why)
        gpu->quarantined =
            clean_copy(row->why + strlen(row->uuid) + strlen(": "));
}

int report_gpus_open(struct report_rows *rows, struct report_gpus **out,
                     struct err *err)
{
    struct report_gpus *gpus = mem_new(1, sizeof(*gpus));
    struct report *report = rows->report;
    struct gpu_row row;
    int rc;

    *out = gpus;
    gpus->report = report;
    rc = report_rows_each(rows, gpus_query, &gpu_shape, &row, add_gpu, gpus,
                          err);
    gpus->places = mem_new(report->n_gpus + 1, sizeof(*gpus->places));
    for (size_t i = 0; i < report->n_gpus; i++)
        gpus->places[i] = (struct place){ report->gpus[i].uuid, (int)i };
    if (report->n_gpus)
        qsort(gpus->places, report->n_gpus, sizeof(*gpus->places), by_uuid);
    return rc;
}

/* ---- results */

static void keep(struct times *times, int gpu,
                 const struct report_measured *measured)
{
    if (times->n == times->cap) {
        times->cap = times->cap ? 2 * times->cap : 64;
        times->items =
            mem_grow(times->items, times->cap, sizeof(*times->items));
    }
    times->items[times->n++] =
        (struct measured){ (uint32_t)measured->config, gpu,
                           at_s(measured->received_utc), measured->seconds };
}

void report_gpus_take(struct report_gpus *gpus,
                      const struct report_measured *measured)
{
    struct report *report = gpus->report;
    bool screen = strcmp(measured->purpose, "screen") == 0;
    bool confirm = strcmp(measured->purpose, "confirm") == 0;
    int gpu = gpu_of(gpus, measured->gpu);

    if (gpu < 0)
        return;
    if (screen && measured->counted) {
        report->gpus[gpu].measured++;
        report->gpus[gpu].repeated += measured->round > 0;
    }
    if (measured->config < 0)
        return;
    if (!measured->baseline) {
        if ((screen || confirm) && report->n_gpus > 1)
            keep(confirm ? &gpus->confirmed : &gpus->screened, gpu, measured);
    } else if (confirm) {
        keep(&gpus->baselines, gpu, measured);
    } else if (strcmp(measured->purpose, "canary") == 0) {
        keep(&gpus->canaries, gpu, measured);
    }
}

/* ---- the whole */

static struct canary_calibration *line_of(const struct times *times)
{
    struct canary *canaries = mem_new(times->n + 1, sizeof(*canaries));
    struct canary_calibration *line;
    size_t n = 0;

    for (size_t i = 0; i < times->n; i++)
        if (times->items[i].seconds > 0)
            canaries[n++] =
                (struct canary){ .gpu = times->items[i].gpu,
                                 .at_s = times->items[i].at_s,
                                 .seconds = times->items[i].seconds };
    line = canary_calibration_new(canaries, n);
    free(canaries);
    return line;
}

/* Screening and confirmation are two sets, each normalised by the baseline in
 * that set. */
static size_t add_witnesses(const struct times *times,
                            const struct canary_calibration *line,
                            bool confirmed, struct witness *out)
{
    size_t n = 0;

    for (size_t i = 0; i < times->n; i++) {
        const struct measured *is = &times->items[i];
        double seconds =
            canary_calibration_normalise(line, is->seconds, is->gpu, is->at_s);

        if (seconds > 0)
            out[n++] = (struct witness){ .config = 2 * is->config + confirmed,
                                         .gpu = is->gpu,
                                         .seconds = seconds };
    }
    return n;
}

/* Leave those of configurations that several GPUs measured: one that no other
 * GPU measured says nothing about its own. */
static void keep_shared(struct times *times)
{
    enum {
        NONE,
        SEVERAL,
        FIRST
    };
    uint32_t last = 0;
    int *seen;
    size_t n = 0;

    for (size_t i = 0; i < times->n; i++)
        if (times->items[i].config > last)
            last = times->items[i].config;
    seen = mem_new((size_t)last + 1, sizeof(*seen));
    for (size_t i = 0; i < times->n; i++) {
        int *by = &seen[times->items[i].config];
        int gpu = times->items[i].gpu + FIRST;

        *by = *by == NONE || *by == gpu ? gpu : SEVERAL;
    }
    for (size_t i = 0; i < times->n; i++)
        if (seen[times->items[i].config] == SEVERAL)
            times->items[n++] = times->items[i];
    times->n = n;
    free(seen);
}

void report_gpus_agree(struct report_gpus *gpus)
{
    struct report *report = gpus->report;
    struct gpu_agreement *found = mem_new(report->n_gpus + 1, sizeof(*found));
    struct witness *witnesses;
    size_t n;

    keep_shared(&gpus->screened);
    keep_shared(&gpus->confirmed);
    witnesses =
        mem_new(gpus->screened.n + gpus->confirmed.n + 1, sizeof(*witnesses));
    n = add_witnesses(&gpus->screened, gpus->screening, false, witnesses);
    n += add_witnesses(&gpus->confirmed, gpus->confirmation, true,
                       witnesses + n);
    n = gpu_agreement(witnesses, n, AGREE_WITHIN, AGREE_CONFIDENCE, found);
    for (size_t i = 0; i < n; i++)
        report->gpus[found[i].gpu].agreement = found[i];
    free(witnesses);
    free(found);
}

void report_gpus_calibrate(struct report_gpus *gpus)
{
    static const struct canary_calibration_rules rules =
        CANARY_CALIBRATION_RULES;
    struct report *report = gpus->report;

    gpus->screening = line_of(&gpus->canaries);
    gpus->confirmation = line_of(&gpus->baselines);
    for (size_t i = 0; i < canary_calibration_gpus(gpus->screening); i++) {
        struct canary_calibration_gpu found;

        canary_calibration_gpu(gpus->screening, i, &rules, &found);
        report->gpus[found.gpu].canary = found;
        report->normalised = true;
    }
}

double report_gpus_normalise(const struct report_gpus *gpus, const char *gpu,
                             int64_t received_utc, double seconds)
{
    return canary_calibration_normalise(gpus->screening, seconds,
                                        gpu_of(gpus, gpu), at_s(received_utc));
}

void report_gpus_cells(const struct report_gpus *gpus, struct report *report)
{
    for (size_t i = 0; i < report->n_configs * report->n_shapes; i++) {
        struct report_cell *cell = &report->cells[i];

        cell->normalised_s = report_gpus_normalise(
            gpus, cell->gpu, cell->received_utc, cell->summary.median);
        cell->time_s = isnan(cell->normalised_s) ? cell->summary.median
                                                 : cell->normalised_s;
    }
}

void report_gpus_close(struct report_gpus *gpus)
{
    if (!gpus)
        return;
    canary_calibration_free(gpus->screening);
    canary_calibration_free(gpus->confirmation);
    free(gpus->places);
    free(gpus->canaries.items);
    free(gpus->baselines.items);
    free(gpus->screened.items);
    free(gpus->confirmed.items);
    free(gpus);
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
