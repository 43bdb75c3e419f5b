/* Configurations, and their outcome for each shape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/store/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/string_pool.h"
#include "coordinator/text/terminal.h"

/* Read in order of the primary keys of both tables. */
static const char query[] =
    "SELECT c.key, c.point, c.baseline, c.params, c.warnings, c.source_key,"
    " o.shape, o.measure_key, o.settled_utc, o.outcome, o.reason, o.attempts,"
    " o.median_s, o.nonce, o.config IS NOT NULL AS settled FROM config c LEFT "
    "JOIN outcome "
    "o ON o.config=c.key"
    "  AND o.source_key=c.source_key WHERE c.sweep=?1 ORDER BY c.key";

/* A configuration, and an outcome of it if it is settled. */
struct cell_row {
    const char *key, *params, *warnings, *source_key;
    int64_t point;
    bool baseline, settled;
    const char *shape, *measure_key, *outcome, *reason, *nonce;
    int64_t settled_utc, attempts;
    double median_s;
};

#define CELL(member, kind) ROW_AT(struct cell_row, member, kind)
static const struct row_column cell_columns[] = {
    CELL(key, TEXT),     CELL(point, INT),        CELL(baseline, BOOL),
    CELL(params, TEXT),  CELL(warnings, TEXT),    CELL(source_key, TEXT),
    CELL(shape, TEXT),   CELL(measure_key, TEXT), CELL(settled_utc, INT),
    CELL(outcome, TEXT), CELL(reason, TEXT),      CELL(attempts, INT),
    CELL(nonce, TEXT),   CELL(settled, BOOL),     CELL(median_s, REAL),
};
static const struct row_shape cell_shape = ROW_SHAPE(NULL, cell_columns);

/* A way to measure a shape: of several the one that was last used is the
 * current one. */
struct way {
    char *shape, *measure_key;
    int64_t settled_utc; /* of the last outcome */
    size_t place;        /* index of the shape in the report, or n_shapes */
    int64_t outcomes;
};

/* An outcome, before it is known whether it is current. */
struct found {
    size_t config, way;
    enum outcome outcome;
    const char *reason;
    int64_t attempts;
    double median_s;
    char *nonce;
};

struct loading {
    struct report_rows *rows;
    size_t cap; /* capacity for configurations */
    struct way *ways;
    size_t n_ways;
    struct found *found;
    size_t n_found, cap_found;
};

static void add_config(struct loading *l, const struct cell_row *row)
{
    struct report *report = l->rows->report;
    struct report_config *config;

    if (report->n_configs == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        report->configs =
            mem_grow(report->configs, l->cap, sizeof(*report->configs));
    }
    config = &report->configs[report->n_configs];
    *config = (struct report_config){
        .point = row->point,
        .baseline = row->baseline,
        .json = terminal_clean(mem_strdup(row->params), false),
        .warnings = string_pool_keep(report->pool, row->warnings),
        .selected = true,
    };
    snprintf(config->key, sizeof(config->key), "%s", row->key);
    snprintf(config->source_key, sizeof(config->source_key), "%s",
             row->source_key);
    report->n_configs++;
}

static size_t place_of(const struct report *report, const char *shape)
{
    size_t place = 0;

    while (place < report->n_shapes &&
           strcmp(report->shapes[place].name, shape) != 0)
        place++;
    return place;
}

static size_t way_of(struct loading *l, const char *shape,
                     const char *measure_key)
{
    for (size_t i = 0; i < l->n_ways; i++)
        if (strcmp(l->ways[i].measure_key, measure_key) == 0 &&
            strcmp(l->ways[i].shape, shape) == 0)
            return i;
    l->ways = mem_grow(l->ways, l->n_ways + 1, sizeof(*l->ways));
    l->ways[l->n_ways] =
        (struct way){ .shape = mem_strdup(shape),
                      .measure_key = mem_strdup(measure_key),
                      .settled_utc = INT64_MIN,
                      .place = place_of(l->rows->report, shape) };
    return l->n_ways++;
}

static void add_outcome(struct loading *l, const struct cell_row *row)
{
    struct report *report = l->rows->report;
    size_t at = way_of(l, row->shape, row->measure_key);
    struct way *way = &l->ways[at];

    way->outcomes++;
    if (row->settled_utc > way->settled_utc)
        way->settled_utc = row->settled_utc;
    if (way->place == report->n_shapes)
        return;
    if (l->n_found == l->cap_found) {
        l->cap_found = l->cap_found ? 2 * l->cap_found : 256;
        l->found = mem_grow(l->found, l->cap_found, sizeof(*l->found));
    }
    l->found[l->n_found++] = (struct found){
        .config = report->n_configs - 1,
        .way = at,
        .outcome = report_outcome_of(row->outcome),
        .reason = string_pool_keep(report->pool, row->reason),
        .attempts = row->attempts,
        .median_s = row->median_s,
        .nonce = mem_strdup(row->nonce),
    };
}

static void add_row(void *arg, const void *at)
{
    struct loading *l = arg;
    const struct cell_row *row = at;
    struct report *report = l->rows->report;

    if (report->n_configs == 0 ||
        strcmp(report->configs[report->n_configs - 1].key, row->key) != 0)
        add_config(l, row);
    if (row->settled)
        add_outcome(l, row);
}

/* ---- what is current */

/* The newest way to measure the same shape; of two equally new ones, the
 * first. */
static bool is_current(const struct loading *l, size_t way)
{
    for (size_t i = 0; i < l->n_ways; i++)
        if (strcmp(l->ways[i].shape, l->ways[way].shape) == 0 &&
            (l->ways[i].settled_utc > l->ways[way].settled_utc ||
             (i < way && l->ways[i].settled_utc == l->ways[way].settled_utc)))
            return false;
    return true;
}

static void make_cells(struct report *report)
{
    size_t n = report->n_configs * report->n_shapes;

    report->cells = mem_new(n + 1, sizeof(*report->cells));
    for (size_t i = 0; i < n; i++)
        report->cells[i] = (struct report_cell){
            .outcome = OUTCOME_PENDING,
            .reason = "",
            .sampling = "",
            .summary = { NAN, NAN, NAN, NAN },
            .normalised_s = NAN,
            .time_s = NAN,
            .relative_l2 = NAN,
            .max_error = NAN,
            .registers = -1,
            .spill_bytes = -1,
            .host = "",
            .gpu = "",
            .gpu_name = "",
        };
    for (size_t i = 0; i < report->n_configs; i++)
        report->configs[i].cells = &report->cells[i * report->n_shapes];
}

static void take_found(struct loading *l)
{
    struct report *report = l->rows->report;
    bool *current = mem_new(l->n_ways + 1, sizeof(*current));

    for (size_t w = 0; w < l->n_ways; w++) {
        struct way *way = &l->ways[w];

        current[w] = is_current(l, w);
        if (!current[w])
            continue;
        report->counts.stale -= way->outcomes;
        if (way->place < report->n_shapes)
            l->rows->measure_keys[way->place] = mem_strdup(way->measure_key);
    }
    for (size_t i = 0; i < l->n_found; i++) {
        struct found *found = &l->found[i];
        struct report_cell *cell =
            &report->configs[found->config].cells[l->ways[found->way].place];

        if (!current[found->way])
            continue;
        cell->outcome = found->outcome;
        cell->reason = found->reason;
        cell->attempts = found->attempts;
        cell->time_s = found->median_s;
        cell->nonce = found->nonce;
        found->nonce = NULL;
    }
    free(current);
}

static void loading_fini(struct loading *l)
{
    for (size_t i = 0; i < l->n_ways; i++) {
        free(l->ways[i].shape);
        free(l->ways[i].measure_key);
    }
    for (size_t i = 0; i < l->n_found; i++)
        free(l->found[i].nonce);
    free(l->ways);
    free(l->found);
}

/* Without shapes no configuration has an outcome. */
int report_cells_load(struct report_rows *rows, struct err *err)
{
    struct report *report = rows->report;
    struct loading l = { .rows = rows };
    struct cell_row row;
    int rc = sql_number(store_db(rows->store), "SELECT count(*) FROM outcome",
                        &report->counts.stale, err, "");

    if (rc < 0)
        return err_within(err, ERR_STORE, "%s", store_path(rows->store));
    rows->measure_keys =
        mem_new(report->n_shapes + 1, sizeof(*rows->measure_keys));
    if (report->n_shapes > 0)
        rc = report_rows_each(rows, query, &cell_shape, &row, add_row, &l, err);
    make_cells(report);
    take_found(&l);
    loading_fini(&l);
    return rc;
}
