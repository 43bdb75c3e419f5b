#include <math.h>

#include "common/outcome.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/print/table.h"

static void real(struct table *table, double number)
{
    if (isfinite(number))
        table_cell(table, "%.9g", number);
    else
        table_text(table, "");
}

struct printing {
    struct table *table;
    const struct stored_params *params; /* the columns of the tunables */
    FILE *to;
};

static void row(const struct printing *l, const struct report *report,
                const struct report_config *config, size_t shape)
{
    const struct report_cell *cell = &config->cells[shape];
    const struct stored_params *columns = l->params;
    struct table *table = l->table;

    table_text(table, config->key);
    table_cell(table, "%d", config->rank);
    table_cell(table, "%d", config->baseline);
    table_text(table, outcome_name(cell->outcome));
    table_text(table, report->shapes[shape].name);
    real(table, cell->summary.median);
    real(table, cell->normalised_s);
    real(table, cell->summary.spread);
    table_cell(table, "%zu", cell->n_samples);
    table_text(table, cell->sampling);
    table_text(table, cell->host);
    table_text(table, cell->gpu);
    table_text(table, cell->reason);
    for (size_t i = 0; i < columns->n; i++) {
        const struct stored_param *param =
            stored_params_find(&config->params, columns->items[i].name);

        table_text(table, param ? param->text : "");
    }
    for (size_t i = 0; i < report->n_metrics; i++)
        real(table, cell->metrics[i]);
}

static void rows(void *arg, const struct report *report,
                 const struct report_config *config)
{
    const struct printing *l = arg;

    for (size_t shape = 0; shape < report->n_shapes; shape++)
        row(l, report, config, shape);
    table_csv_flush(l->table, l->to);
}

int report_csv(const struct report_view *view, FILE *to, struct err *err)
{
    const struct report *report = view->report;
    struct table *table = table_new();
    static const char *const columns[] = {
        "key",      "rank",         "baseline", "outcome", "shape",
        "median_s", "normalised_s", "spread_s", "samples", "sampling",
        "host",     "gpu",          "reason"
    };
    const struct stored_params *params =
        report->n_configs ? &report->configs[0].params : NULL;
    struct printing l = { table, params, to };
    int rc;

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_column(table, 'l', columns[i]);
    for (size_t i = 0; params && i < params->n; i++)
        table_column(table, 'l', params->items[i].name);
    for (size_t i = 0; i < report->n_metrics; i++)
        table_column(table, 'l', report->metrics[i].name);
    table_csv_flush(table, to);
    rc = report_each(view, 0, rows, &l, err);
    table_free(table);
    return rc;
}
