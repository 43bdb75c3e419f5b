/* Measurements: the times of cells, and results for the GPUs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_samples.h"
#include "coordinator/text/string_pool.h"

/* Of a result, a build or a GPU: of the last two some members. */
struct evidence {
    const char *nonce, *config, *shape, *purpose, *source_key, *measure_key;
    const char *outcome, *gpu, *host, *samples, *sampling, *throttle;
    const char *uuid, *name;
    int64_t round, received_utc, registers, spill_bytes;
    bool counted;
    double relative_l2, max_error;
};

#define EVIDENCE(member, kind) ROW_AT(struct evidence, member, kind)
static const struct row_column result_columns[] = {
    EVIDENCE(nonce, TEXT),        EVIDENCE(config, TEXT),
    EVIDENCE(shape, TEXT),        EVIDENCE(purpose, TEXT),
    EVIDENCE(round, INT),         EVIDENCE(source_key, TEXT),
    EVIDENCE(measure_key, TEXT),  EVIDENCE(counted, BOOL),
    EVIDENCE(outcome, TEXT),      EVIDENCE(gpu, TEXT),
    EVIDENCE(host, TEXT),         EVIDENCE(received_utc, INT),
    EVIDENCE(samples, TEXT),      EVIDENCE(sampling, TEXT),
    EVIDENCE(throttle, TEXT),     EVIDENCE(relative_l2, REAL),
    EVIDENCE(max_error, REAL),    EVIDENCE(registers, COUNT),
    EVIDENCE(spill_bytes, COUNT),
};
static const struct row_shape result_shape = ROW_SHAPE(NULL, result_columns);

static const struct row_column build_columns[] = {
    EVIDENCE(nonce, TEXT),
    EVIDENCE(registers, COUNT),
    EVIDENCE(spill_bytes, COUNT),
    EVIDENCE(host, TEXT),
};
static const struct row_shape build_shape = ROW_SHAPE(NULL, build_columns);

static const struct row_column gpu_columns[] = {
    EVIDENCE(uuid, TEXT),
    EVIDENCE(name, TEXT),
};
static const struct row_shape gpu_shape = ROW_SHAPE(NULL, gpu_columns);

#define RESULTS                                                                \
    "SELECT nonce, config, shape, purpose, round, source_key, measure_key,"    \
    " counted, outcome, gpu, host, received_utc, samples, sampling, throttle," \
    " relative_l2, max_error, registers, spill_bytes FROM result"              \
    " WHERE ?1 IS NOT NULL"
#define BUILDS                                              \
    "SELECT nonce, registers, spill_bytes, host FROM build" \
    " WHERE ?1 IS NOT NULL"
#define OF_KEYS                                                         \
    " AND nonce IN (SELECT o.nonce FROM json_each(?2) k JOIN outcome o" \
    "  ON o.config=k.value)"

static const char gpus_query[] =
    "SELECT uuid, name FROM gpu WHERE ?1 IS NOT NULL ORDER BY uuid";

struct loading {
    struct report_rows *rows;
    struct report_gpus *gpus; /* NULL: they are known */
    size_t *slots;  /* hash table by nonce: index of a cell plus one, or 0 */
    size_t n_slots; /* a power of two, at least twice the cells */
    size_t *others; /* [cells] next of the same nonce, or 0: a failed build
                     * settles all shapes */
    size_t missing; /* cells whose evidence was not found yet */
};

/* ---- cells by nonce */

static size_t *slot_of(const struct loading *l, const char *nonce)
{
    const struct report_cell *cells = l->rows->report->cells;
    uint64_t hash = 0;
    size_t at;

    for (const char *c = nonce; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15);
    at = (size_t)(hash >> 32) & (l->n_slots - 1);
    while (l->slots[at] && strcmp(cells[l->slots[at] - 1].nonce, nonce) != 0)
        at = (at + 1) & (l->n_slots - 1);
    return &l->slots[at];
}

static void make_slots(struct loading *l)
{
    const struct report *report = l->rows->report;
    size_t n = report->n_configs * report->n_shapes;

    l->n_slots = 64;
    while (l->n_slots < 2 * n)
        l->n_slots *= 2;
    l->slots = mem_new(l->n_slots, sizeof(*l->slots));
    l->others = mem_new(n + 1, sizeof(*l->others));
    for (size_t i = 0; i < n; i++) {
        size_t *slot;

        if (!report->cells[i].nonce || !*report->cells[i].nonce)
            continue;
        slot = slot_of(l, report->cells[i].nonce);
        l->others[i] = *slot;
        *slot = i + 1;
        l->missing++;
    }
}

static struct report_cell *cell_of(const struct loading *l, const char *nonce)
{
    size_t slot = *slot_of(l, nonce);

    return slot ? &l->rows->report->cells[slot - 1] : NULL;
}

static struct report_cell *next_cell(const struct loading *l,
                                     const struct report_cell *cell)
{
    struct report_cell *cells = l->rows->report->cells;
    size_t next = l->others[cell - cells];

    return next ? &cells[next - 1] : NULL;
}

/* ---- rows */

static void add_name(void *arg, const void *at)
{
    struct report_rows *rows = arg;
    const struct evidence *row = at;

    rows->names =
        mem_grow(rows->names, rows->n_names + 1, sizeof(*rows->names));
    rows->names[rows->n_names++] =
        (struct report_rows_name){ .uuid = mem_strdup(row->uuid),
                                   .name = mem_strdup(row->name) };
}

int report_rows_names(struct report_rows *rows, struct err *err)
{
    struct evidence row;

    return report_rows_each(rows, gpus_query, &gpu_shape, &row, add_name, rows,
                            err);
}

static int by_uuid(const void *uuid, const void *name)
{
    return strcmp(uuid, ((const struct report_rows_name *)name)->uuid);
}

static const char *name_of(const struct loading *l, const char *uuid)
{
    const struct report_rows *rows = l->rows;
    const struct report_rows_name *found =
        rows->n_names ? bsearch(uuid, rows->names, rows->n_names,
                                sizeof(*rows->names), by_uuid)
                      : NULL;

    return found ? string_pool_keep(rows->report->pool, found->name) : "";
}

#define POWER_CAP 0x4 /* NVML's nvmlClocksThrottleReasonSwPowerCap */

/* Does any reading of "[0,4,4]" have the bit? */
bool report_rows_power_capped(const char *json)
{
    bool capped = false;

    while (*json) {
        char *end;
        double reasons = strtod(json, &end);

        if (end != json && reasons >= 0 && reasons < 0x1p63)
            capped = capped || ((uint64_t)reasons & POWER_CAP);
        json = end == json ? json + 1 : end;
    }
    return capped;
}

static void fill_cell(const struct loading *l, struct report_cell *cell,
                      const struct evidence *row)
{
    struct string_pool *pool = l->rows->report->pool;

    cell->relative_l2 = row->relative_l2;
    cell->max_error = row->max_error;
    cell->registers = row->registers;
    cell->spill_bytes = row->spill_bytes;
    cell->host = string_pool_keep(pool, row->host);
    cell->gpu = string_pool_keep(pool, row->gpu);
    cell->gpu_name = name_of(l, row->gpu);
    cell->sampling = string_pool_keep(pool, row->sampling);
    cell->power_capped = report_rows_power_capped(row->throttle);
    cell->received_utc = row->received_utc;
    cell->samples = stored_samples_read(row->samples, &cell->n_samples);
    if (cell->n_samples)
        stats_summary(cell->samples, cell->n_samples, &cell->summary);
}

/* The configuration whose headline time this is, so that it says something
 * about its GPU; otherwise -1. */
static int64_t tells(const struct loading *l, const struct report_cell *cell,
                     const struct evidence *row)
{
    const struct report_rows *rows = l->rows;
    const struct report *report = rows->report;
    int64_t config;

    if (!row->counted || strcmp(row->shape, report->shapes[0].name) != 0 ||
        !outcome_is(row->outcome, OUTCOME_CORRECT) || !rows->measure_keys[0] ||
        strcmp(row->measure_key, rows->measure_keys[0]) != 0)
        return -1;
    config = cell ? (cell - report->cells) / (int64_t)report->n_shapes : -1;
    if (!cell || strcmp(report->configs[config].key, row->config) != 0)
        config = report_rows_find(rows, row->config);
    return config >= 0 && strcmp(report->configs[config].source_key,
                                 row->source_key) == 0
               ? config
               : -1;
}

static void add_result(void *arg, const void *at)
{
    struct loading *l = arg;
    const struct evidence *row = at;
    struct report_cell *cell = cell_of(l, row->nonce);
    struct report_measured measured = {
        .gpu = row->gpu,
        .purpose = row->purpose,
        .counted = row->counted,
        .round = row->round,
        .received_utc = row->received_utc,
    };

    for (struct report_cell *c = cell; c; c = next_cell(l, c)) {
        fill_cell(l, c, row);
        l->missing--;
    }
    if (!l->gpus)
        return;
    measured.config = tells(l, cell, row);
    if (measured.config >= 0) {
        measured.baseline = l->rows->report->configs[measured.config].baseline;
        measured.seconds =
            cell ? cell->summary.median : stored_samples_median(row->samples);
    }
    report_gpus_take(l->gpus, &measured);
}

static void add_build(void *arg, const void *at)
{
    struct loading *l = arg;
    const struct evidence *row = at;
    struct report_cell *cell = cell_of(l, row->nonce);

    for (; cell; cell = next_cell(l, cell)) {
        if (*cell->host) /* it was measured */
            continue;
        cell->registers = row->registers;
        cell->spill_bytes = row->spill_bytes;
        cell->host = string_pool_keep(l->rows->report->pool, row->host);
    }
}

/* Of all results: the GPUs, and what their canaries say. */
static int load_all(struct loading *l, struct err *err)
{
    struct evidence row;
    int rc = report_gpus_open(l->rows, &l->gpus, err);

    if (rc == 0)
        rc = report_rows_names(l->rows, err);
    if (rc == 0)
        rc = report_rows_each(l->rows, RESULTS, &result_shape, &row, add_result,
                              l, err);
    if (rc == 0) {
        report_gpus_calibrate(l->gpus);
        report_gpus_cells(l->gpus, l->rows->report);
        report_gpus_agree(l->gpus);
    }
    report_gpus_close(l->gpus);
    return rc;
}

int report_results_load(struct report_rows *rows, struct err *err)
{
    struct loading l = { .rows = rows };
    struct evidence row;
    int rc;

    if (rows->report->n_shapes == 0)
        return 0;
    make_slots(&l);
    if (rows->keys)
        rc = report_rows_each(rows, RESULTS OF_KEYS, &result_shape, &row,
                              add_result, &l, err);
    else
        rc = load_all(&l, err);
    if (rc == 0 && l.missing > 0)
        rc = report_rows_each(rows, rows->keys ? BUILDS OF_KEYS : BUILDS,
                              &build_shape, &row, add_build, &l, err);
    free(l.slots);
    free(l.others);
    return rc;
}
