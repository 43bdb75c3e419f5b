#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/builds_sum.h"
#include "coordinator/table.h"

#define CONFIG_BYTES 400 /* of a configuration in a table */

static void config_of(const struct builds *builds, const struct build_row *row,
                      char out[CONFIG_BYTES])
{
    plan_display(builds->plan, (int)(row - builds->rows), out, CONFIG_BYTES);
}

static void print_failures(const struct builds *builds)
{
    struct table *table = table_new();
    struct builds_failure *failures;
    char config[CONFIG_BYTES];
    size_t n;

    failures = builds_failures(builds, &n);
    table_column(table, 'r', "failed");
    table_column(table, 'l', "outcome");
    table_column(table, 'l', "reason");
    table_column(table, 'l', "first");
    for (size_t i = 0; i < n; i++) {
        config_of(builds, failures[i].first, config);
        table_cell(table, "%zu", failures[i].n);
        table_cell(table, "%s", failures[i].first->outcome);
        table_cell(table, "%s", failures[i].first->detail);
        table_cell(table, "%s", config);
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
    free(failures);
}

static void print_figures(const struct builds *builds)
{
    struct table *table = table_new();

    table_column(table, 'l', "of a cubin");
    table_column(table, 'r', "min");
    table_column(table, 'r', "median");
    table_column(table, 'r', "max");
    table_column(table, 'r', "above 0");
    for (int f = 0; f < FIGURE_COUNT; f++) {
        struct builds_spread spread =
            builds_spread(builds, (enum builds_figure)f);
        double none = (double)NAN;
        int d = builds_figure_decimals((enum builds_figure)f);

        table_cell(table, "%s", builds_figure_name((enum builds_figure)f));
        table_number(table, d, spread.n ? spread.all.min : none);
        table_number(table, d, spread.n ? spread.all.median : none);
        table_number(table, d, spread.n ? spread.all.max : none);
        table_cell(table, "%zu", spread.above_zero);
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
    printf("\nblocks an SM are limited by:");
    for (int i = 0; i < BUILDS_LIMITERS; i++)
        printf("%s %s %zu", i ? "," : "", builds_limiters[i],
               builds_limited(builds, builds_limiters[i]));
    printf("\n");
}

static void print_gates(const struct builds *builds)
{
    struct table *table = table_new();

    table_column(table, 'l', "gate of the cubin");
    table_column(table, 'l', "kind");
    table_column(table, 'r', "hit");
    table_column(table, 'l', "why");
    for (int g = 0; g < BUILDS_GATES; g++) {
        table_cell(table, "%s", builds_gate_name((enum builds_gate)g));
        table_cell(table, "%s", builds_gate_kind((enum builds_gate)g));
        table_cell(table, "%zu", builds_gate_hits(builds, (enum builds_gate)g));
        table_cell(table, "%s", builds_gate_why((enum builds_gate)g));
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
}

void builds_summary(const struct builds *builds)
{
    size_t built = builds_built(builds), failed = builds_failed(builds);

    printf("\n%zu built, %zu failed", built, failed);
    if (built + failed < builds->n)
        printf(", %zu not built yet", builds->n - built - failed);
    printf("; %zu distinct machine codes; %.0f s of compiling\n",
           builds_distinct(builds), builds_spread(builds, FIGURE_BUILD_S).sum);
    if (failed > 0)
        print_failures(builds);
    if (built > 0) {
        print_figures(builds);
        print_gates(builds);
    }
}

void builds_list(const struct builds *builds)
{
    struct table *table = table_new();
    char config[CONFIG_BYTES];

    for (int f = 0; f < FIGURE_COUNT; f++)
        table_column(table, 'r', builds_figure_name((enum builds_figure)f));
    table_column(table, 'l', "limiter");
    table_column(table, 'l', "cubin");
    table_column(table, 'l', "configuration");
    for (size_t i = 0; i < builds->n; i++) {
        const struct build_row *row = &builds->rows[i];

        for (int f = 0; f < FIGURE_COUNT; f++)
            table_number(table, builds_figure_decimals((enum builds_figure)f),
                         row->built ? builds_figure(row, (enum builds_figure)f)
                                    : (double)NAN);
        config_of(builds, row, config);
        table_cell(table, "%s", row->built ? row->occupancy.limiter : "-");
        table_cell(table, "%s",
                   row->known ? row->built ? row->artifact : row->outcome
                              : "-");
        table_cell(table, "%s", config);
    }
    table_print(table, stdout);
    table_free(table);
}
