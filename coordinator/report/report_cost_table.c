#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

#define UTC_BYTES 24
#define NS_PER_HOUR 3.6e12
#define SHORT_HOURS 0.1 /* shorter sweeps are printed in seconds */

/* Of the times in the tables. */
struct unit {
    const char *name;
    double per_hour;
    int decimals;
};

static struct unit unit_of(const struct report_cost *cost)
{
    return cost->total_hours < SHORT_HOURS ? (struct unit){ "seconds", 3600, 1 }
                                           : (struct unit){ "hours", 1, 4 };
}

static void duration(struct table *table, const struct unit *unit, double hours)
{
    table_number(table, unit->decimals, unit->per_hour * hours);
}

static void dollars(struct table *table, double usd, bool unpriced)
{
    if (unpriced)
        table_cell(table, "unpriced");
    else
        table_number(table, 4, usd);
}

/* A category without hours has no column. */
static void row(struct table *table, const struct report_cost *cost,
                const char *name, const double *hours, double proof,
                double total)
{
    struct unit unit = unit_of(cost);

    table_cell(table, "%s", name);
    duration(table, &unit, total);
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        if (cost->hours[i] > 0)
            duration(table, &unit, hours[i]);
    if (cost->proof.held_ns > 0)
        duration(table, &unit, proof);
}

static void print_hours(const struct report_cost *cost, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "host");
    table_column(table, 'r', unit_of(cost).name);
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        if (cost->hours[i] > 0)
            table_column(table, 'r',
                         ledger_category_name((enum ledger_category)i));
    if (cost->proof.held_ns > 0)
        table_column(table, 'r', "proof");
    table_column(table, 'r', "USD/h");
    table_column(table, 'r', "USD");
    for (size_t i = 0; i < cost->n_hosts; i++) {
        const struct report_cost_host *host = &cost->hosts[i];

        row(table, cost, host->name, host->hours, host->proof_hours,
            host->total_hours);
        dollars(table, host->rate_usd_per_h, isnan(host->rate_usd_per_h));
        dollars(table, host->usd, isnan(host->usd));
    }
    row(table, cost, "total", cost->hours, bill_hours(&cost->proof),
        cost->total_hours);
    table_cell(table, "%s", "");
    dollars(table, cost->total_usd, isnan(cost->total_usd));
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

static const char *utc_text(int64_t utc_ns, char out[UTC_BYTES])
{
    time_t s = (time_t)(utc_ns / NS_PER_S);
    struct tm tm;

    gmtime_r(&s, &tm);
    strftime(out, UTC_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
    return out;
}

/* When a host that had several rates was held at which. */
static void print_rates(const struct report_cost *cost, FILE *to)
{
    struct unit unit = unit_of(cost);
    struct table *table = table_new();
    size_t n = 0;

    table_column(table, 'l', "host");
    table_column(table, 'l', "held from");
    table_column(table, 'l', "for");
    table_column(table, 'r', unit.name);
    table_column(table, 'r', "USD/h");
    table_column(table, 'r', "USD");
    for (size_t i = 0; i < cost->n_held; i++) {
        const struct report_cost_held *held = &cost->held[i];
        double rate = held->rate_usd_per_h,
               hours = (double)held->ns / NS_PER_HOUR;
        char at[UTC_BYTES];

        if (!cost->hosts[held->host].repriced)
            continue;
        table_cell(table, "%s", cost->hosts[held->host].name);
        table_cell(table, "%s", utc_text(held->start_utc, at));
        table_cell(table, "%s", held->phase);
        duration(table, &unit, hours);
        dollars(table, rate, isnan(rate));
        dollars(table, rate * hours, isnan(rate));
        n++;
    }
    if (n > 0) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}

static void category_row(struct table *table, const struct report_cost *cost,
                         const char *name, const struct bill *bill)
{
    struct unit unit = unit_of(cost);
    double hours = bill_hours(bill);

    table_cell(table, "%s", name);
    duration(table, &unit, hours);
    table_number(table, 1, 100 * hours / cost->total_hours);
    dollars(table, bill->priced_usd,
            !bill_has_price(bill->held_ns ? bill : &cost->bill));
}

/* Dollars by category, for the hosts with a price. */
static void print_categories(const struct report_cost *cost, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "category");
    table_column(table, 'r', unit_of(cost).name);
    table_column(table, 'r', "share %");
    table_column(table, 'r',
                 cost->unpriced && bill_has_price(&cost->bill)
                     ? "USD where priced"
                     : "USD");
    for (int c = 0; c < REPORT_COST_CATEGORIES; c++) {
        struct bill bill = report_cost_category(cost, c);

        category_row(table, cost, ledger_category_name((enum ledger_category)c),
                     &bill);
    }
    if (cost->proof.held_ns > 0)
        category_row(table, cost, "proof", &cost->proof);
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

static void print_foreseen(const struct report_view *view, FILE *to)
{
    char *text = report_foreseen_text(view);

    if (text)
        paragraph_print(to, 0, "estimated: %s", text);
    free(text);
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
    print_rates(cost, to);
    print_categories(cost, to);
    if (!bill_has_price(&cost->bill))
        paragraph_print(to, 0,
                        "no host has a price (rate=USD-PER-HOUR in hosts.txt)");
    else if (cost->unpriced)
        paragraph_print(to, 0,
                        "%zu of %zu hosts %s held without a price "
                        "(rate=USD-PER-HOUR in hosts.txt); what has one costs "
                        "$%.4f",
                        cost->unpriced, cost->n_hosts,
                        cost->unpriced == 1 ? "was" : "were", cost->priced_usd);
    print_foreseen(view, to);
    if (view->conclusion->confirmation.proof.hours > 0 &&
        cost->proof.held_ns == 0)
        print_proof(&view->conclusion->confirmation, to);
    if (view->costs)
        report_spending_table(view, to);
    fputc('\n', to);
    print_each(cost, "tried", report->counts.tally.tried, to);
    print_each(cost, outcome_name(OUTCOME_CORRECT),
               report->counts.outcomes[OUTCOME_CORRECT], to);
}
