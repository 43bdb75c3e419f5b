/* The landscape that a sweep of fa-coord measured, from its database. */
#include "coordinator/inspect/landscape_db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/decimal.h"

#define PROBLEM_BYTES_MAX (1 << 16)

struct maker {
    const struct report *report;
    size_t shape; /* index in the report */
    struct landscape *to;
    struct row_query durations; /* of a configuration: build, GPU held */
    struct err *err;
};

/* As the sweep file has it: 1.0, which is printed as 1. */
static const char *text_of(const struct stored_param *param,
                           char text[DECIMAL_BYTES])
{
    if (param->type != STORED_PARAM_REAL || !isfinite(param->number))
        return param->text;
    decimal_repr(param->number, text);
    return text;
}

static int level_of(const struct landscape_tunable *tunable,
                    const struct stored_param *param)
{
    char repr[DECIMAL_BYTES];
    const char *text = text_of(param, repr);

    for (int i = 0; i < tunable->n; i++)
        if (strcmp(tunable->texts[i], text) == 0)
            return i;
    return -1;
}

static bool is_number(const struct stored_param *param)
{
    return param->type == STORED_PARAM_INTEGER ||
           param->type == STORED_PARAM_REAL;
}

/* Numbers are inserted in order, other values at the end. */
static void add_level(struct landscape_tunable *tunable,
                      const struct stored_param *param)
{
    double number = is_number(param) ? param->number : (double)NAN;
    size_t n = (size_t)tunable->n;
    char repr[DECIMAL_BYTES];
    int i = tunable->n++;

    tunable->texts = mem_grow(tunable->texts, n + 1, sizeof(char *));
    tunable->numbers = mem_grow(tunable->numbers, n + 1, sizeof(double));
    while (i > 0 && tunable->numbers[i - 1] > number) {
        tunable->texts[i] = tunable->texts[i - 1];
        tunable->numbers[i] = tunable->numbers[i - 1];
        i--;
    }
    tunable->texts[i] = mem_strdup(text_of(param, repr));
    tunable->numbers[i] = number;
    tunable->ordered = tunable->ordered && is_number(param);
}

static int add_values(struct maker *maker, const struct stored_params *params)
{
    struct landscape *to = maker->to;

    for (int t = 0; t < to->tunables_n; t++) {
        struct landscape_tunable *tunable = &to->tunables[t];
        const struct stored_param *param =
            stored_params_find(params, tunable->name);

        if (!param || params->n != (size_t)to->tunables_n)
            return err_set(maker->err, ERR_STORE,
                           "its configurations have different tunables");
        if (level_of(tunable, param) >= 0)
            continue;
        if (tunable->n == DOMAIN_LEVELS_MAX)
            return err_set(maker->err, ERR_INPUT,
                           "'%s' has more than %d values", tunable->name,
                           DOMAIN_LEVELS_MAX);
        add_level(tunable, param);
    }
    return 0;
}

static int make_domain(struct maker *maker)
{
    const struct report *report = maker->report;
    const struct stored_params *first = &report->configs[0].params;
    struct domain_tunable shapes[DOMAIN_TUNABLES_MAX];
    struct landscape *to = maker->to;
    int rc = 0;

    if (first->n > DOMAIN_TUNABLES_MAX)
        return err_set(maker->err, ERR_INPUT, "more than %d tunables",
                       DOMAIN_TUNABLES_MAX);
    to->tunables = mem_new(first->n, sizeof(*to->tunables));
    for (; to->tunables_n < (int)first->n; to->tunables_n++)
        to->tunables[to->tunables_n] = (struct landscape_tunable){
            .name = mem_strdup(first->items[to->tunables_n].name),
            .ordered = true,
        };
    for (size_t i = 0; rc == 0 && i < report->n_configs; i++)
        rc = add_values(maker, &report->configs[i].params);
    for (int t = 0; rc == 0 && t < to->tunables_n; t++)
        shapes[t] = (struct domain_tunable){
            .levels = to->tunables[t].n,
            .ordered = to->tunables[t].ordered,
            .values = to->tunables[t].ordered ? to->tunables[t].numbers : NULL,
        };
    if (rc == 0)
        to->domain = domain_new(shapes, to->tunables_n);
    return rc;
}

static bool is_known(const char *text)
{
    return text && *text;
}

/* An unsettled or lost result is not a property of the configuration. */
static bool is_property(enum outcome outcome)
{
    return outcome <= OUTCOME_TIMEOUT;
}

static void keep_samples(struct landscape *to, const struct report_cell *cell,
                         struct landscape_config *config)
{
    config->sample_at = to->samples_n;
    config->samples_n = (int)cell->n_samples;
    config->time_s = cell->summary.median;
    to->samples = mem_grow(to->samples, to->samples_n + cell->n_samples + 1,
                           sizeof(*to->samples));
    for (size_t i = 0; i < cell->n_samples; i++)
        to->samples[to->samples_n++] = cell->samples[i];
}

struct durations {
    double build_s, held_s;
    int64_t built_utc;
};

static const struct row_column durations_columns[] = {
    ROW_AT(struct durations, build_s, REAL),
    ROW_AT(struct durations, held_s, REAL),
    ROW_AT(struct durations, built_utc, INT),
};
static const struct row_shape durations_shape =
    ROW_SHAPE(NULL, durations_columns);

static int keep_durations(struct maker *maker, const struct report_config *from,
                          struct landscape_config *config)
{
    struct durations found = { 0 };
    int rc = row_start(&maker->durations, maker->err, "ss", from->key,
                       from->cells[maker->shape].nonce);

    if (rc == 0)
        rc = row_next(&maker->durations, &found, maker->err);
    if (rc == 1) {
        config->compile_s = fmax(found.build_s, 0);
        config->bench_s = fmax(found.held_s, 0);
        if (config->recorded_utc == 0) /* it never ran */
            config->recorded_utc = found.built_utc;
        sql_reset(maker->durations.stmt);
    }
    return err_only(rc);
}

static int keep(struct maker *maker, const struct report_config *from)
{
    struct landscape *to = maker->to;
    const struct report_cell *cell = &from->cells[maker->shape];
    struct landscape_config config = { .outcome = cell->outcome,
                                       .recorded_utc = cell->received_utc };
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int point, rc;

    if (!is_property(cell->outcome) ||
        (cell->outcome == OUTCOME_CORRECT && cell->n_samples == 0))
        return 0;
    for (int t = 0; t < to->tunables_n; t++)
        levels[t] = (uint16_t)level_of(
            &to->tunables[t],
            stored_params_find(&from->params, to->tunables[t].name));
    point = domain_add(to->domain, levels);
    if (point < 0) {
        to->repeated++;
        return 0;
    }
    if (config.outcome == OUTCOME_CORRECT)
        keep_samples(to, cell, &config);
    else
        config.reason = mem_strdup(cell->reason);
    rc = keep_durations(maker, from, &config);
    to->configs[point] = config;
    if (from->baseline)
        to->baseline = point;
    if (config.outcome == OUTCOME_CORRECT &&
        (to->best < 0 || config.time_s < to->configs[to->best].time_s)) {
        to->best = point;
        free(to->device);
        to->device = mem_strdup(cell->gpu_name);
    } else if (!is_known(to->device) && is_known(cell->gpu_name)) {
        free(to->device);
        to->device = mem_strdup(cell->gpu_name);
    }
    return rc;
}

/* If it was built several times (from the cache, or after a loss), the longest
 * build is the one that compiled. */
static const char durations_query[] =
    "SELECT (SELECT max(seconds) FROM build WHERE config=?1 AND cached=0)"
    " AS build_s, (SELECT held_s FROM result WHERE nonce=?2) AS held_s,"
    " (SELECT coalesce(max(received_utc), 0) FROM build WHERE config=?1)"
    " AS built_utc";

static int fill(struct maker *maker, struct store *store)
{
    const struct report *report = maker->report;
    int rc;

    if (report->n_configs == 0)
        return err_set(maker->err, ERR_INPUT, "it has no configuration");
    maker->to->configs =
        mem_new(report->n_configs, sizeof(*maker->to->configs));
    rc = make_domain(maker);
    if (rc == 0)
        rc = row_prepare(store_db(store), durations_query, &durations_shape,
                         &maker->durations, maker->err);
    for (size_t i = 0; rc == 0 && i < report->n_configs; i++)
        rc = keep(maker, &report->configs[i]);
    row_close(&maker->durations);
    if (rc == 0 && domain_size(maker->to->domain) == 0)
        rc = err_set(
            maker->err, ERR_INPUT,
            "none of its configurations is settled yet; 'fa-coord resume' goes "
            "on with the sweep");
    return rc;
}

/* The sizes of the shape, in the order of the sweep file. */
static char *problem_of(const struct report_shape *shape)
{
    struct stored_params vars;
    struct buf text;
    char *list;

    if (stored_params_parse(shape->vars, &vars, NULL) < 0)
        return NULL;
    buf_init(&text, PROBLEM_BYTES_MAX);
    buf_printf(&text, "[");
    for (size_t i = 0; i < vars.n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", vars.items[i].text);
    buf_printf(&text, "]");
    list = mem_strdup(buf_text(&text));
    buf_fini(&text);
    stored_params_fini(&vars);
    return list;
}

int landscape_of_report(struct store *store, const struct report *report,
                        size_t shape, struct landscape **out, struct err *err)
{
    struct maker maker = { .report = report, .shape = shape, .err = err };
    const char *recorded_on = report->sweep.recorded_on;
    int rc;

    maker.to = mem_new(1, sizeof(*maker.to));
    maker.to->best = maker.to->baseline = -1;
    maker.to->device = mem_strdup("");
    maker.to->kernel = mem_strdup(
        is_known(report->sweep.kernel) ? report->sweep.kernel : report->name);
    maker.to->problem = is_known(report->sweep.problem)
                            ? mem_strdup(report->sweep.problem)
                            : problem_of(&report->shapes[shape]);
    maker.to->facts = mem_new(1, sizeof(*maker.to->facts));
    rc = stored_spec_facts(report, maker.to->facts, err);
    if (rc == 0)
        rc = fill(&maker, store);
    if (rc == 0 && recorded_on) { /* "": on an unnamed device */
        free(maker.to->device);
        maker.to->device = mem_strdup(recorded_on);
    }
    if (rc < 0) {
        landscape_free(maker.to);
        return err_within(err, rc, "%s", store_path(store));
    }
    *out = maker.to;
    return 0;
}

int landscape_of_database(const char *path, struct landscape **out,
                          struct err *err)
{
    struct report *report = NULL;
    struct store *store = NULL;
    int rc = store_open(path, STORE_WHOLE, &store, err);

    if (rc == 0)
        rc = report_load(store, &report, err);
    if (rc == 0)
        rc = landscape_of_report(store, report, 0, out, err);
    report_free(report);
    store_close(store);
    return rc;
}
