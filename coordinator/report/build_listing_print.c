#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/report/build_listing_sum.h"
#include "coordinator/print/table.h"

#define CONFIG_BYTES 400 /* of a configuration in a table */

static void config_of(const struct build_listing *listing,
                      const struct build_row *row, char out[CONFIG_BYTES])
{
    plan_display(listing->plan, (int)(row - listing->rows), out, CONFIG_BYTES);
}

static void print_failures(const struct build_listing *listing)
{
    struct table *table = table_new();
    struct build_listing_failure *failures;
    char config[CONFIG_BYTES];
    size_t n;

    failures = build_listing_failures(listing, &n);
    table_column(table, 'r', "failed");
    table_column(table, 'l', "outcome");
    table_column(table, 'l', "reason");
    table_column(table, 'l', "first");
    for (size_t i = 0; i < n; i++) {
        config_of(listing, failures[i].first, config);
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

static void print_figures(const struct build_listing *listing)
{
    struct table *table = table_new();

    table_column(table, 'l', "of a cubin");
    table_column(table, 'r', "min");
    table_column(table, 'r', "median");
    table_column(table, 'r', "max");
    table_column(table, 'r', "above 0");
    for (int f = 0; f < FIGURE_COUNT; f++) {
        struct build_listing_spread spread =
            build_listing_spread(listing, (enum build_listing_figure)f);
        double none = (double)NAN;
        int d = build_listing_figure_decimals((enum build_listing_figure)f);

        table_cell(table, "%s",
                   build_listing_figure_name((enum build_listing_figure)f));
        table_number(table, d, spread.n ? spread.all.min : none);
        table_number(table, d, spread.n ? spread.all.median : none);
        table_number(table, d, spread.n ? spread.all.max : none);
        table_cell(table, "%zu", spread.above_zero);
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
    printf("\n"
           "blocks per SM are limited by:");
    for (int i = 0; i < BUILD_LISTING_LIMITERS; i++)
        printf("%s %s %zu", i ? "," : "", build_listing_limiters[i],
               build_listing_limited(listing, build_listing_limiters[i]));
    printf("\n");
}

static void print_gates(const struct build_listing *listing)
{
    struct table *table = table_new();

    table_column(table, 'l', "gate of the cubin");
    table_column(table, 'l', "kind");
    table_column(table, 'r', "hit");
    table_column(table, 'l', "why");
    for (int g = 0; g < BUILD_LISTING_GATES; g++) {
        table_cell(table, "%s",
                   build_listing_gate_name((enum build_listing_gate)g));
        table_cell(table, "%s",
                   build_listing_gate_kind((enum build_listing_gate)g));
        table_cell(
            table, "%zu",
            build_listing_gate_hits(listing, (enum build_listing_gate)g));
        table_cell(table, "%s",
                   build_listing_gate_why((enum build_listing_gate)g));
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
}

void build_listing_summary(const struct build_listing *listing)
{
    size_t built = build_listing_built(listing),
           failed = build_listing_failed(listing);

    printf("\n%zu built, %zu failed", built, failed);
    if (built + failed < listing->n)
        printf(", %zu not built yet", listing->n - built - failed);
    printf("; %zu distinct machine codes; %.0f s of compiling\n",
           build_listing_distinct(listing),
           build_listing_spread(listing, FIGURE_BUILD_S).sum);
    if (failed > 0)
        print_failures(listing);
    if (built > 0) {
        print_figures(listing);
        print_gates(listing);
    }
}

void build_listing_list(const struct build_listing *listing)
{
    struct table *table = table_new();
    char config[CONFIG_BYTES];

    for (int f = 0; f < FIGURE_COUNT; f++)
        table_column(table, 'r',
                     build_listing_figure_name((enum build_listing_figure)f));
    table_column(table, 'l', "limiter");
    table_column(table, 'l', "cubin");
    table_column(table, 'l', "configuration");
    for (size_t i = 0; i < listing->n; i++) {
        const struct build_row *row = &listing->rows[i];

        for (int f = 0; f < FIGURE_COUNT; f++)
            table_number(
                table,
                build_listing_figure_decimals((enum build_listing_figure)f),
                row->built
                    ? build_listing_figure(row, (enum build_listing_figure)f)
                    : (double)NAN);
        config_of(listing, row, config);
        table_cell(table, "%s", row->built ? row->occupancy.limiter : "-");
        table_cell(table, "%s",
                   row->known ? row->built ? row->artifact : row->outcome
                              : "-");
        table_cell(table, "%s", config);
    }
    table_print(table, stdout);
    table_free(table);
}
