#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/search/effort.h"
#include "coordinator/search/objective.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/text/string_pool.h"
#include "coordinator/text/terminal.h"

/* ---- the sweep, its shapes and gates ---- */

/* The search method is stored in the settings. */
static void load_search(struct report *report, const char *settings)
{
    const struct stored_param *method = NULL, *seed = NULL, *objective = NULL,
                              *most = NULL, *in_flight = NULL, *effort = NULL;
    struct stored_params params = { 0 };

    if (stored_params_parse(settings, &params, NULL) == 0) {
        method = stored_params_find(&params, "method");
        seed = stored_params_find(&params, "search_seed");
        objective = stored_params_find(&params, "objective");
        most = stored_params_find(&params, "evaluations");
        in_flight = stored_params_find(&params, "in_flight");
        effort = stored_params_find(&params, "effort");
    }
    report->search.method = mem_strdup(method ? method->text : "");
    report->search.effort =
        effort_name(effort_recall(effort ? effort->text : NULL));
    report->search.in_flight = in_flight ? (int64_t)in_flight->number : 0;
    report->search.seed = seed ? (int64_t)seed->number : 0;
    if (most && strcmp(report->search.method, "exhaustive") != 0)
        report->search.evaluations = (int64_t)most->number;
    report->search.objective =
        mem_strdup(objective ? objective->text : OBJECTIVE_HEADLINE);
    terminal_clean(report->search.method, false);
    terminal_clean(report->search.objective, false);
    report->search.headline =
        strcmp(report->search.objective, OBJECTIVE_HEADLINE) == 0;
    stored_params_fini(&params);
}

static int load_sweep(struct store *store, struct report *report,
                      struct err *err)
{
    struct past_runs *past;
    struct store_sweep sweep;
    int rc = past_runs_open(store, &past, err);

    if (rc < 0)
        return rc;
    rc = past_runs_sweep(past, &sweep, err);
    if (rc == 0)
        rc =
            err_set(err, ERR_INPUT, "%s holds no sweep yet", store_path(store));
    if (rc == 1 && *sweep.spec == '\0') /* recover made the row */
        rc = err_set(err, ERR_STORE,
                     "%s: what the sweep was is lost; 'fa-coord sweep' with "
                     "its sweep file and '--db %s' keeps the results",
                     store_path(store), store_path(store));
    if (rc == 1) {
        report->sweep.id = sweep.id;
        report->name = mem_strdup(sweep.name);
        report->device = mem_strdup(sweep.device);
        report->arch = mem_strdup(sweep.arch);
        report->file.folder = mem_strdup(sweep.folder);
        report->file.name = mem_strdup(sweep.file);
        report->file.text = mem_strdup(sweep.spec);
        report->sweep.facts = mem_strdup(sweep.facts);
        report->sweep.created_utc = sweep.created_utc;
        report->counts.configurations = sweep.configurations;
        report->counts.passed = sweep.passed;
        load_search(report, sweep.settings);
    }
    past_runs_close(past);
    return err_only(rc);
}

/* Shapes, gates and facts of the sweep; a query fills in some. */
struct part {
    const char *name, *vars, *floor_name, *kind, *why, *text;
    double floor_s;
    int64_t rejected_first, rejected_alone;
};

#define PART(member, kind) ROW_AT(struct part, member, kind)
static const struct row_column part_columns[] = {
    PART(name, TEXT),
    PART(vars, TEXT),
    PART(floor_name, TEXT),
    PART(kind, TEXT),
    PART(why, TEXT),
    PART(text, TEXT),
    PART(floor_s, REAL),
    PART(rejected_first, COUNT),
    PART(rejected_alone, COUNT),
};
static const struct row_shape part_shape = ROW_SHAPE(NULL, part_columns);

static void add_shape(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    report->shapes =
        mem_grow(report->shapes, report->n_shapes + 1, sizeof(*report->shapes));
    report->shapes[report->n_shapes++] = (struct report_shape){
        .name = mem_strdup(part->name),
        .vars = mem_strdup(part->vars),
        .floor_s = part->floor_s,
        .floor_name = mem_strdup(part->floor_name),
    };
}

static void add_gate(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    report->gates =
        mem_grow(report->gates, report->n_gates + 1, sizeof(*report->gates));
    report->gates[report->n_gates++] = (struct report_gate){
        .name = mem_strdup(part->name),
        .kind = mem_strdup(part->kind),
        .why = mem_strdup(part->why),
        .rejected_first = part->rejected_first,
        .rejected_alone = part->rejected_alone,
    };
}

static void set_ending(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    report->sweep.ending = mem_strdup(part->text);
}

static void set_recorded_on(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    free(report->sweep.recorded_on);
    report->sweep.recorded_on = terminal_clean(mem_strdup(part->text), false);
}

static void set_kernel(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    free(report->sweep.kernel);
    report->sweep.kernel = terminal_clean(mem_strdup(part->text), false);
}

static void set_problem(void *arg, const void *row)
{
    struct report *report = arg;
    const struct part *part = row;

    free(report->sweep.problem);
    report->sweep.problem = terminal_clean(mem_strdup(part->text), false);
}

/* Over the configurations that were used. */
static void count_warned(struct report *report)
{
    for (size_t g = 0; g < report->n_gates; g++) {
        struct report_gate *gate = &report->gates[g];
        char *quoted;

        if (strcmp(gate->kind, "warn") != 0)
            continue;
        quoted = mem_printf("\"%s\"", gate->name);
        for (size_t i = 0; i < report->n_configs; i++)
            gate->warned += strstr(report->configs[i].warnings, quoted) != NULL;
        free(quoted);
    }
}

/* ---- derived values ---- */

void report_settle(struct report_config *config, size_t n_shapes)
{
    config->outcome = OUTCOME_CORRECT;
    config->reason = "";
    for (size_t i = 0; i < n_shapes; i++) {
        const struct report_cell *cell = &config->cells[i];

        if (cell->outcome == OUTCOME_CORRECT)
            continue;
        config->outcome = cell->outcome;
        config->reason = cell->reason;
        if (cell->outcome != OUTCOME_PENDING)
            return;
    }
}

static bool is_ranked(const struct report_config *config)
{
    return config->outcome == OUTCOME_CORRECT &&
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
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return strcmp(x->key, y->key);
}

void report_count(struct report_counts *counts,
                  const struct report_config *config, size_t n_shapes)
{
    struct tally_unit unit = { 0 };

    counts->asked++;
    for (size_t i = 0; i < n_shapes; i++) {
        unit.settled += config->cells[i].outcome != OUTCOME_PENDING;
        unit.correct += config->cells[i].outcome == OUTCOME_CORRECT;
    }
    tally_add(&counts->tally, unit);
    counts->outside +=
        config->point < 0 && tally_is_tried(&counts->tally, unit);
    counts->outcomes[config->outcome]++;
}

void report_sort(struct report *report)
{
    if (report->n_configs)
        qsort(report->configs, report->n_configs, sizeof(*report->configs),
              faster_first);
}

static void rank(struct report *report)
{
    struct report_counts *counts = &report->counts;

    while (counts->ranked < report->n_configs &&
           is_ranked(&report->configs[counts->ranked])) {
        struct report_config *config = &report->configs[counts->ranked];

        config->rank = (int)++counts->ranked;
        counts->unstable +=
            report_config_is_unstable(config->cells[0].sampling);
        counts->capped += config->cells[0].power_capped;
    }
}

static void judge(struct report *report, const struct report_refuted *refuted)
{
    report->counts.tally.shapes = (int)report->n_shapes;
    for (size_t i = 0; i < report->n_configs; i++) {
        report->configs[i].refuted =
            report_refuted_apply(refuted, report->configs[i].key,
                                 report->configs[i].cells, report->n_shapes);
        report_settle(&report->configs[i], report->n_shapes);
        report_count(&report->counts, &report->configs[i], report->n_shapes);
    }
    report->counts.outcomes[OUTCOME_CONSTRAINTS] += report_rejected(report);
    report_sort(report);
    rank(report);
}

int report_parts_load(struct report_rows *rows, struct err *err)
{
    static const struct {
        const char *text;
        report_rows_fn *fn;
    } queries[] = {
        { "SELECT name, vars, floor_s, floor_name FROM shape WHERE sweep=?1"
          " ORDER BY position",
          add_shape },
        { "SELECT name, kind, why, rejected_first, rejected_alone"
          " FROM gate WHERE sweep=?1 ORDER BY position",
          add_gate },
        { "SELECT coalesce((SELECT ending FROM run ORDER BY epoch DESC"
          " LIMIT 1), '') AS text WHERE ?1 IS NOT NULL",
          set_ending },
        { "SELECT json_extract(settings, '$.recorded.device') AS text FROM "
          "sweep"
          " WHERE id=?1 AND device='replay'",
          set_recorded_on },
        { "SELECT json_extract(settings, '$.recorded.kernel') AS text FROM "
          "sweep WHERE id=?1 AND text IS NOT NULL",
          set_kernel },
        { "SELECT json_quote(json_extract(settings, '$.recorded.problem')) "
          "AS text FROM sweep WHERE id=?1 AND text <> 'null'",
          set_problem },
    };
    struct part part;
    int rc = load_sweep(rows->store, rows->report, err);

    for (size_t i = 0; rc == 0 && i < sizeof(queries) / sizeof(*queries); i++)
        rc = report_rows_each(rows, queries[i].text, &part_shape, &part,
                              queries[i].fn, rows->report, err);
    return rc;
}

int report_times_load(struct report_rows *rows, struct err *err)
{
    struct report *report = rows->report;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < report->n_configs; i++)
        rc = stored_params_parse(report->configs[i].json,
                                 &report->configs[i].params, err);
    return rc == 0 ? report_results_load(rows, err) : rc;
}

static int load(struct store *store, bool times, bool screened,
                struct report **out, struct err *err)
{
    struct report *report = mem_new(1, sizeof(*report));
    struct report_rows rows = { .store = store, .report = report };
    int rc;

    report->pool = string_pool_new();
    rc = report_parts_load(&rows, err);
    if (rc == 0)
        rc = report_cells_load(&rows, err);
    if (rc == 0)
        count_warned(report);
    if (rc == 0 && times)
        rc = report_times_load(&rows, err);
    if (rc == 0 && !screened)
        rc = report_refuted_load(store, report->pool, &rows.refuted, err);
    if (rc == 0)
        judge(report, &rows.refuted);
    report_rows_fini(&rows);
    if (rc < 0) {
        report_free(report);
        report = NULL;
    }
    *out = report;
    return rc;
}

int report_load(struct store *store, struct report **out, struct err *err)
{
    return load(store, true, false, out, err);
}

int report_load_screened(struct store *store, struct report **out,
                         struct err *err)
{
    return load(store, true, true, out, err);
}

int report_load_outcomes(struct store *store, struct report **out,
                         struct err *err)
{
    return load(store, false, false, out, err);
}

static void cell_fini(struct report_cell *cell)
{
    free(cell->samples);
    free(cell->metrics);
    free(cell->nonce);
}

void report_configs_fini(struct report *report)
{
    for (size_t i = 0;
         report->cells && i < report->n_configs * report->n_shapes; i++)
        cell_fini(&report->cells[i]);
    for (size_t i = 0; i < report->n_configs; i++) {
        free(report->configs[i].json);
        stored_params_fini(&report->configs[i].params);
    }
    free(report->cells);
    free(report->configs);
    string_pool_free(report->pool);
}

void report_free(struct report *report)
{
    if (!report)
        return;
    report_configs_fini(report);
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
    free(report->shapes);
    free(report->gates);
    free(report->name);
    free(report->device);
    free(report->arch);
    free(report->file.folder);
    free(report->file.name);
    free(report->file.text);
    free(report->sweep.facts);
    free(report->search.method);
    free(report->search.objective);
    free(report->sweep.recorded_on);
    free(report->sweep.kernel);
    free(report->sweep.problem);
    free(report->sweep.ending);
    free(report);
}

int64_t report_tried(const struct report *report)
{
    return report->counts.tally.tried - report->counts.outside;
}

int64_t report_rejected(const struct report *report)
{
    return report->counts.configurations - report->counts.passed;
}

const char *report_shown_count(const struct report *report, int i,
                               int64_t *count)
{
    int outcome = i > OUTCOME_CONSTRAINTS ? i - 1 : i;

    if (i == OUTCOME_CONSTRAINTS) {
        *count = report_rejected(report);
        return "rejected by gates";
    }
    *count = report->counts.outcomes[outcome];
    if (outcome == OUTCOME_CONSTRAINTS)
        *count -= report_rejected(report);
    return outcome_name((enum outcome)outcome);
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

bool report_is_emulated(const struct report *report)
{
    const char *recorded_on = report->sweep.recorded_on;

    return device_kind_is(report->device, DEVICE_KIND_CPU) ||
           (recorded_on && strcmp(recorded_on, DEVICE_KIND_EMULATED_GPU) == 0);
}
