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
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_ways.h"
#include "coordinator/text/string_pool.h"
#include "coordinator/text/terminal.h"

/* Read in order of the primary keys of both tables. */
#define CELLS(which)                                                           \
    "SELECT c.key, c.point, c.baseline, c.params, c.warnings, c.source_key,"   \
    " o.shape, o.measure_key, o.settled_utc, o.outcome, o.reason, o.attempts," \
    " o.median_s, o.nonce, o.config IS NOT NULL AS settled FROM config c"      \
    " LEFT JOIN outcome o ON o.config=c.key AND o.source_key=c.source_key"     \
    " WHERE c.sweep=?1" which " ORDER BY c.key"

static const char query[] = CELLS("");
static const char query_of_keys[] =
    CELLS(" AND c.key IN (SELECT value FROM json_each(?2))");

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

/* An outcome, before it is known whether it is current. */
struct found {
    size_t config, place, way; /* place: of the shape */
    enum outcome outcome;
    const char *reason;
    int64_t attempts;
    double median_s;
    char *nonce;
};

struct loading {
    struct report_rows *rows;
    size_t cap; /* capacity for configurations */
    struct stored_ways ways;
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

/* Whether an outcome is of the one way that is known to be current. */
static bool is_of_current(const struct report_rows *rows, size_t place,
                          const char *measure_key)
{
    return rows->measure_keys[place] &&
           strcmp(rows->measure_keys[place], measure_key) == 0;
}

static void add_outcome(struct loading *l, const struct cell_row *row)
{
    struct report *report = l->rows->report;
    size_t place = place_of(report, row->shape), way = 0;

    if (!l->rows->keys)
        way = stored_ways_add(&l->ways, row->shape, row->measure_key,
                              row->settled_utc);
    if (place == report->n_shapes ||
        (l->rows->keys && !is_of_current(l->rows, place, row->measure_key)))
        return;
    if (l->n_found == l->cap_found) {
        l->cap_found = l->cap_found ? 2 * l->cap_found : 256;
        l->found = mem_grow(l->found, l->cap_found, sizeof(*l->found));
    }
    l->found[l->n_found++] = (struct found){
        .config = report->n_configs - 1,
        .place = place,
        .way = way,
        .outcome = report_config_outcome(row->outcome),
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

    for (size_t i = 0; i < l->n_found; i++) {
        struct found *found = &l->found[i];
        struct report_cell *cell =
            &report->configs[found->config].cells[found->place];

        if (!l->rows->keys && !stored_ways_is_current(&l->ways, found->way))
            continue;
        cell->outcome = found->outcome;
        cell->reason = found->reason;
        cell->attempts = found->attempts;
        cell->time_s = found->median_s;
        cell->nonce = found->nonce;
        found->nonce = NULL;
    }
}

static void loading_fini(struct loading *l)
{
    for (size_t i = 0; i < l->n_found; i++)
        free(l->found[i].nonce);
    stored_ways_fini(&l->ways);
    free(l->found);
}

int report_rows_ways(struct report_rows *rows, const struct stored_ways *ways,
                     struct err *err)
{
    struct report *report = rows->report;
    int rc = sql_number(store_db(rows->store), "SELECT count(*) FROM outcome",
                        &report->counts.stale, err, "");

    rows->measure_keys =
        mem_new(report->n_shapes + 1, sizeof(*rows->measure_keys));
    for (size_t w = 0; w < ways->n; w++) {
        const struct stored_way *way = &ways->list[w];
        size_t place = place_of(report, way->shape);

        if (!stored_ways_is_current(ways, w))
            continue;
        report->counts.stale -= way->outcomes;
        if (place < report->n_shapes)
            rows->measure_keys[place] = mem_strdup(way->measure_key);
    }
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(rows->store))
                  : 0;
}

/* Without shapes no configuration has an outcome. */
int report_cells_load(struct report_rows *rows, struct err *err)
{
    struct report *report = rows->report;
    struct loading l = { .rows = rows };
    struct cell_row row;
    int rc = 0;

    if (report->n_shapes > 0)
        rc = report_rows_each(rows, rows->keys ? query_of_keys : query,
                              &cell_shape, &row, add_row, &l, err);
    if (rc == 0 && !rows->keys)
        rc = report_rows_ways(rows, &l.ways, err);
    make_cells(report);
    take_found(&l);
    loading_fini(&l);
    return rc;
}
