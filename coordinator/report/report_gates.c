#include <inttypes.h>
#include <string.h>

#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"

static void count_cell(struct table *table, int64_t count)
{
    if (count < 0)
        table_cell(table, "-");
    else
        table_cell(table, "%" PRId64, count);
}

void report_gates_print(const struct report_view *view, FILE *to)
{
    const struct report *report = view->report;
    struct table *table = table_new();

    table_column(table, 'l', "gate");
    table_column(table, 'l', "kind");
    table_column(table, 'r', "first");
    table_column(table, 'r', "alone");
    table_column(table, 'r', "warned");
    table_column(table, 'l', "why");
    for (size_t i = 0; i < report->n_gates; i++) {
        const struct report_gate *gate = &report->gates[i];

        table_cell(table, "%s", gate->name);
        table_cell(table, "%s", gate->kind);
        count_cell(table, gate->rejected_first);
        count_cell(table, gate->rejected_alone);
        count_cell(table, strcmp(gate->kind, "warn") == 0 ? gate->warned : -1);
        table_cell(table, "%s", gate->why);
    }
    if (report->n_gates) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}
