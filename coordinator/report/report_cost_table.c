#include <inttypes.h>
#include <math.h>

#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

static void dollars(struct table *table, double usd, bool unpriced)
{
    if (unpriced)
        table_cell(table, "unpriced");
    else
        table_number(table, 4, usd);
}

/* A category without hours has no column. */
static void row(struct table *table, const struct report_cost *cost,
                const char *name, const double *hours, double total)
{
    table_cell(table, "%s", name);
    table_number(table, 4, total);
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        if (cost->hours[i] > 0)
            table_number(table, 4, hours[i]);
}

static void print_hours(const struct report_cost *cost, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "host");
    table_column(table, 'r', "hours");
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        if (cost->hours[i] > 0)
            table_column(table, 'r',
                         ledger_category_name((enum ledger_category)i));
    table_column(table, 'r', "USD/h");
    table_column(table, 'r', "USD");
    for (size_t i = 0; i < cost->n_hosts; i++) {
        const struct report_cost_host *host = &cost->hosts[i];

        row(table, cost, host->name, host->hours, host->total_hours);
        dollars(table, host->rate_usd_per_h, isnan(host->rate_usd_per_h));
        dollars(table, host->usd, isnan(host->usd));
    }
    row(table, cost, "total", cost->hours, cost->total_hours);
    table_cell(table, "%s", "");
    dollars(table, cost->total_usd, isnan(cost->total_usd));
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

/* Dollars by category, for the hosts with a price. */
static void print_categories(const struct report_cost *cost, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "category");
    table_column(table, 'r', "hours");
    table_column(table, 'r', "share %");
    table_column(table, 'r',
                 cost->unpriced && cost->unpriced < cost->n_hosts
                     ? "USD where priced"
                     : "USD");
    for (int c = 0; c < REPORT_COST_CATEGORIES; c++) {
        double usd = 0;

        for (size_t i = 0; i < cost->n_hosts; i++)
            if (!isnan(cost->hosts[i].rate_usd_per_h))
                usd += cost->hosts[i].rate_usd_per_h * cost->hosts[i].hours[c];
        table_cell(table, "%s", ledger_category_name((enum ledger_category)c));
        table_number(table, 4, cost->hours[c]);
        table_number(table, 1, 100 * cost->hours[c] / cost->total_hours);
        dollars(table, usd, cost->unpriced == cost->n_hosts);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

static void print_each(const struct report_cost *cost, const char *what,
                       int64_t n, FILE *to)
{
    if (n <= 0)
        return;
    fprintf(to, "per configuration %s (%" PRId64 "): %.4g s", what, n,
            3600 * cost->total_hours / (double)n);
    if (!isnan(cost->total_usd))
        fprintf(to, ", $%.6f", cost->total_usd / (double)n);
    fputc('\n', to);
}

/* It has a database of its own. */
static void print_proof(const struct confirmation *confirmation, FILE *to)
{
    fprintf(to, "checking the finalists at the fuzz shapes took another %.4f h",
            confirmation->proof.hours);
    if (!isnan(confirmation->proof.usd))
        fprintf(to, ", $%.4f", confirmation->proof.usd);
    fputc('\n', to);
}

void report_cost_table(const struct report_view *view, FILE *to)
{
    const struct report *report = view->report;
    const struct report_cost *cost = view->cost;

    if (cost->total_hours <= 0) {
        fprintf(to, "\n"
                    "No host was used yet, so there is no cost.\n");
        return;
    }
    print_hours(cost, to);
    print_categories(cost, to);
    if (cost->unpriced == cost->n_hosts)
        paragraph_print(to, 0,
                        "no host has a price (rate=USD-PER-HOUR in hosts.txt)");
    else if (cost->unpriced)
        paragraph_print(to, 0,
                        "%zu of %zu hosts %s no price (rate=USD-PER-HOUR in "
                        "hosts.txt); the others cost $%.4f",
                        cost->unpriced, cost->n_hosts,
                        cost->unpriced == 1 ? "has" : "have", cost->priced_usd);
    if (view->conclusion->confirmation.proof.hours > 0)
        print_proof(&view->conclusion->confirmation, to);
    fputc('\n', to);
    print_each(cost, "tried", report->counts.tally.tried, to);
    print_each(cost, outcome_name(OUTCOME_CORRECT),
               report->counts.outcomes[OUTCOME_CORRECT], to);
}
