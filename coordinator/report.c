#include "coordinator/report.h"
#include "coordinator/report_gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/history.h"
#include "coordinator/objective.h"
#include "coordinator/samples.h"
#include "coordinator/report_current.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"
#include "coordinator/terminal.h"

static const char *const outcome_names[REPORT_OUTCOMES] = {
    [REPORT_CORRECT] = "correct",
    [REPORT_CONSTRAINTS] = "constraints",
    [REPORT_COMPILE] = "compile",
    [REPORT_RUNTIME] = "runtime",
    [REPORT_CORRECTNESS] = "correctness",
    [REPORT_TIMEOUT] = "timeout",
    [REPORT_LOST] = "lost",
    [REPORT_CRASH] = "crash",
    [REPORT_PENDING] = "pending",
};

const char *report_outcome_name(enum report_outcome outcome)
{
    return outcome_names[outcome];
}

static enum report_outcome outcome_of(const char *name)
{
    for (int i = 0; i < REPORT_PENDING; i++)
        if (strcmp(name, outcome_names[i]) == 0)
            return (enum report_outcome)i;
    return REPORT_PENDING; /* "" of a missing row */
}

static char *clean_copy(struct sqlite3_stmt *stmt, int column)
{
    return terminal_clean(mem_strdup(sql_text(stmt, column)), false);
}

static int64_t int_or(struct sqlite3_stmt *stmt, int column, int64_t missing)
{
    return sql_is_null(stmt, column) ? missing : sql_int(stmt, column);
}

/* ---- the sweep, its shapes and gates ---- */

/* How it was searched is among the settings. */
static void load_search(struct report *report, const char *settings)
{
    const struct param *method = NULL, *seed = NULL, *objective = NULL;
    struct params params = { 0 };

    if (params_parse(settings, &params, NULL) == 0) {
        method = params_find(&params, "method");
        seed = params_find(&params, "search_seed");
        objective = params_find(&params, "objective");
    }
    report->method = mem_strdup(method ? method->text : "");
    report->seed = seed ? (int64_t)seed->number : 0;
    report->objective =
        mem_strdup(objective ? objective->text : OBJECTIVE_HEADLINE);
    terminal_clean(report->method, false);
    terminal_clean(report->objective, false);
    params_fini(&params);
}

static int load_sweep(struct store *store, struct report *report,
                      struct err *err)
{
    struct history *history;
    struct store_sweep sweep;
    int rc = history_open(store, &history, err);

    if (rc < 0)
        return rc;
    rc = history_sweep(history, &sweep, &report->sweep, err);
    if (rc == 0)
        rc =
            err_set(err, ERR_INPUT, "%s holds no sweep yet", store_path(store));
    if (rc == 1) {
        report->name = mem_strdup(sweep.name);
        report->device = mem_strdup(sweep.device);
        report->arch = mem_strdup(sweep.arch);
        report->folder = mem_strdup(sweep.folder);
        report->file = mem_strdup(sweep.file);
        report->spec = mem_strdup(sweep.spec);
        report->facts = mem_strdup(sweep.facts);
        report->created_utc = sweep.created_utc;
        report->configurations = sweep.configurations;
        report->passed = sweep.passed;
        load_search(report, sweep.settings);
    }
    history_close(history);
    return rc < 0 ? rc : 0;
}

/* Run a query over the current sweep; 'row' is called for each row. */
static int each(struct store *store, struct report *report, const char *text,
                void (*row)(struct report *, struct sqlite3_stmt *),
                struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", report->sweep);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        row(report, stmt);
    sql_free(stmt);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}

static void add_shape(struct report *report, struct sqlite3_stmt *stmt)
{
    report->shapes =
        mem_grow(report->shapes, report->n_shapes + 1, sizeof(*report->shapes));
    report->shapes[report->n_shapes++] = (struct report_shape){
        .name = mem_strdup(sql_text(stmt, 0)),
        .vars = mem_strdup(sql_text(stmt, 1)),
        .floor_s = sql_real(stmt, 2),
        .floor_name = mem_strdup(sql_text(stmt, 3)),
    };
}

static void add_gate(struct report *report, struct sqlite3_stmt *stmt)
{
    report->gates =
        mem_grow(report->gates, report->n_gates + 1, sizeof(*report->gates));
    report->gates[report->n_gates++] = (struct report_gate){
        .name = mem_strdup(sql_text(stmt, 0)),
        .kind = mem_strdup(sql_text(stmt, 1)),
        .why = mem_strdup(sql_text(stmt, 2)),
        .rejected_first = int_or(stmt, 3, -1),
        .rejected_alone = int_or(stmt, 4, -1),
        .warned = int_or(stmt, 5, 0),
    };
}

static void set_ending(struct report *report, struct sqlite3_stmt *stmt)
{
    report->ending = mem_strdup(sql_text(stmt, 0));
}

static void set_recorded_on(struct report *report, struct sqlite3_stmt *stmt)
{
    free(report->recorded_on);
    report->recorded_on = clean_copy(stmt, 0);
}

static void set_stale(struct report *report, struct sqlite3_stmt *stmt)
{
    report->stale = sql_int(stmt, 0);
}

/* ---- configurations and their cells ---- */

#define CURRENT REPORT_CURRENT

/* A row for each configuration and shape, settled or not. */
static const char cells_query[] =
    CURRENT "SELECT c.key, c.point, c.baseline, c.params, c.warnings,"
            " o.outcome, o.reason, o.attempts, o.nonce,"
            " r.samples, r.relative_l2, r.max_error,"
            " coalesce(r.registers, b.registers),"
            " coalesce(r.spill_bytes, b.spill_bytes), coalesce(r.host, b.host),"
            " r.gpu, g.name, r.sampling, r.throttle,"
            " coalesce(r.received_utc, 0)"
            " FROM config c JOIN shape s ON s.sweep=c.sweep"
            " LEFT JOIN current n ON n.shape=s.name"
            " LEFT JOIN outcome o ON o.config=c.key AND o.shape=s.name"
            "  AND o.source_key=c.source_key AND o.measure_key=n.measure_key"
            " LEFT JOIN result r ON r.nonce=o.nonce"
            " LEFT JOIN build b ON b.nonce=o.nonce"
            " LEFT JOIN gpu g ON g.uuid=r.gpu"
            " WHERE c.sweep=?1 ORDER BY c.point, c.key, s.position";

static const char stale_query[] = CURRENT
    "SELECT count(*) FROM outcome o LEFT JOIN config c ON c.key=o.config"
    " AND c.sweep=?1 LEFT JOIN current n ON n.shape=o.shape"
    " WHERE c.key IS NULL OR o.source_key<>c.source_key"
    " OR o.measure_key IS NOT n.measure_key";

#define POWER_CAP 0x4 /* NVML's nvmlClocksThrottleReasonSwPowerCap */

/* Does any reading of "[0,4,4]" have it? */
static bool is_power_capped(const char *json)
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

static void read_cell(struct report_cell *cell, struct sqlite3_stmt *stmt)
{
    cell->outcome = outcome_of(sql_text(stmt, 5));
    cell->reason = clean_copy(stmt, 6);
    cell->attempts = sql_int(stmt, 7);
    cell->nonce = mem_strdup(sql_text(stmt, 8));
    cell->relative_l2 = sql_real(stmt, 10);
    cell->max_error = sql_real(stmt, 11);
    cell->registers = int_or(stmt, 12, -1);
    cell->spill_bytes = int_or(stmt, 13, -1);
    cell->host = clean_copy(stmt, 14);
    cell->gpu = clean_copy(stmt, 15);
    cell->gpu_name = clean_copy(stmt, 16);
    cell->sampling = clean_copy(stmt, 17);
    cell->power_capped = is_power_capped(sql_text(stmt, 18));
    cell->received_utc = sql_int(stmt, 19);
    cell->summary = (struct summary){ NAN, NAN, NAN, NAN };
    cell->samples = samples_read(sql_text(stmt, 9), &cell->n_samples);
    if (cell->n_samples)
        stats_summary(cell->samples, cell->n_samples, &cell->summary);
}

static void add_cell(struct report *report, struct sqlite3_stmt *stmt)
{
    const char *key = sql_text(stmt, 0);
    struct report_config *config =
        report->n_configs ? &report->configs[report->n_configs - 1] : NULL;
    size_t shape = 0;

    if (!config || strcmp(config->key, key) != 0) {
        report->configs = mem_grow(report->configs, report->n_configs + 1,
                                   sizeof(*report->configs));
        config = &report->configs[report->n_configs++];
        *config = (struct report_config){
            .point = sql_int(stmt, 1),
            .baseline = sql_int(stmt, 2) != 0,
            .json = clean_copy(stmt, 3),
            .warnings = clean_copy(stmt, 4),
            .selected = true,
            .cells = mem_new(report->n_shapes, sizeof(*config->cells)),
        };
        snprintf(config->key, sizeof(config->key), "%s", key);
    }
    while (shape + 1 < report->n_shapes && config->cells[shape].reason)
        shape++; /* rows come in the order of the shapes */
    read_cell(&config->cells[shape], stmt);
}

/* ---- opinions ---- */

static void settle(const struct report *report, struct report_config *config)
{
    config->outcome = REPORT_CORRECT;
    config->reason = "";
    for (size_t i = 0; i < report->n_shapes; i++) {
        const struct report_cell *cell = &config->cells[i];

        if (cell->outcome == REPORT_CORRECT)
            continue;
        config->outcome = cell->outcome;
        config->reason = cell->reason;
        if (cell->outcome != REPORT_PENDING)
            return;
    }
}

static bool is_ranked(const struct report_config *config)
{
    return config->outcome == REPORT_CORRECT &&
           !isnan(config->cells[0].summary.median);
}

static int faster_first(const void *a, const void *b)
{
    const struct report_config *x = a, *y = b;
    double s = x->cells[0].time_s, t = y->cells[0].time_s;

    if (is_ranked(x) != is_ranked(y))
        return is_ranked(x) ? -1 : 1;
    if (is_ranked(x) && s != t)
        return s < t ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static void judge(struct report *report)
{
    for (size_t i = 0; i < report->n_configs; i++) {
        struct report_config *config = &report->configs[i];

        settle(report, config);
        report->counts[config->outcome]++;
    }
    report->counts[REPORT_CONSTRAINTS] +=
        report->configurations - report->passed;
    if (report->n_configs)
        qsort(report->configs, report->n_configs, sizeof(*report->configs),
              faster_first);
    for (size_t i = 0; i < report->n_configs; i++)
        if (is_ranked(&report->configs[i]))
            report->configs[i].rank = (int)i + 1;
}

int report_load(struct store *store, struct report **out, struct err *err)
{
    static const struct {
        const char *text;
        void (*row)(struct report *, struct sqlite3_stmt *);
    } queries[] = {
        { "SELECT name, vars, floor_s, floor_name FROM shape WHERE sweep=?1"
          " ORDER BY position",
          add_shape },
        { "SELECT name, kind, why, rejected_first, rejected_alone,"
          " (SELECT count(*) FROM config c, json_each(c.warnings) w"
          "  WHERE c.sweep=gate.sweep AND w.value=gate.name)"
          " FROM gate WHERE sweep=?1 ORDER BY position",
          add_gate },
        { "SELECT coalesce((SELECT ending FROM run ORDER BY epoch DESC"
          " LIMIT 1), '') WHERE ?1 IS NOT NULL",
          set_ending },
        { "SELECT json_extract(settings, '$.recorded.device') FROM sweep"
          " WHERE id=?1 AND device='replay'",
          set_recorded_on },
        { cells_query, add_cell },
        { stale_query, set_stale },
    };
    struct report *report = mem_new(1, sizeof(*report));
    int rc = load_sweep(store, report, err);

    for (size_t i = 0; rc == 0 && i < sizeof(queries) / sizeof(*queries); i++)
        rc = each(store, report, queries[i].text, queries[i].row, err);
    for (size_t i = 0; rc == 0 && i < report->n_configs; i++)
        rc = params_parse(report->configs[i].json, &report->configs[i].params,
                          err);
    if (rc == 0)
        rc = report_gpus_load(store, report, err);
    if (rc < 0) {
        report_free(report);
        *out = NULL;
        return rc;
    }
    judge(report);
    *out = report;
    return 0;
}

static void config_fini(struct report_config *config, size_t n_shapes)
{
    for (size_t i = 0; i < n_shapes; i++) {
        struct report_cell *cell = &config->cells[i];

        free(cell->reason);
        free(cell->samples);
        free(cell->sampling);
        free(cell->metrics);
        free(cell->host);
        free(cell->gpu);
        free(cell->gpu_name);
        free(cell->nonce);
    }
    free(config->cells);
    free(config->json);
    params_fini(&config->params);
    free(config->warnings);
}

void report_free(struct report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->n_configs; i++)
        config_fini(&report->configs[i], report->n_shapes);
    for (size_t i = 0; i < report->n_shapes; i++) {
        free(report->shapes[i].name);
        free(report->shapes[i].vars);
        free(report->shapes[i].floor_name);
        roofline_fini(&report->shapes[i].roofline);
    }
    for (size_t i = 0; i < report->n_gates; i++) {
        free(report->gates[i].name);
        free(report->gates[i].kind);
        free(report->gates[i].why);
    }
    for (size_t i = 0; i < report->n_metrics; i++) {
        free(report->metrics[i].name);
        free(report->metrics[i].unit);
    }
    report_gpus_free(report);
    free(report->metrics);
    free(report->configs);
    free(report->shapes);
    free(report->gates);
    free(report->name);
    free(report->device);
    free(report->arch);
    free(report->folder);
    free(report->file);
    free(report->spec);
    free(report->facts);
    free(report->method);
    free(report->objective);
    free(report->recorded_on);
    free(report->ending);
    free(report);
}

int64_t report_tried(const struct report *report)
{
    int64_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++)
        n += report->configs[i].point >= 0 &&
             report->configs[i].outcome != REPORT_PENDING;
    return n;
}

const struct report_config *report_find(const struct report *report,
                                        const char *key)
{
    for (size_t i = 0; i < report->n_configs; i++)
        if (strcmp(report->configs[i].key, key) == 0)
            return &report->configs[i];
    return NULL;
}

bool report_find_shape(const struct report *report, const char *name,
                       size_t *out)
{
    for (*out = 0; *out < report->n_shapes; ++*out)
        if (strcmp(report->shapes[*out].name, name) == 0)
            return true;
    return false;
}

const struct report_config *report_baseline(const struct report *report)
{
    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].baseline)
            return &report->configs[i];
    return NULL;
}
