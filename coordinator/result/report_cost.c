#include "coordinator/result/report_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_work.h"
#include "coordinator/text/terminal.h"

#define NS_PER_HOUR 3.6e12

/* A host that was listed and never held has one row without a category.  The
 * rate is that of the held interval in which the interval began. */
static const char cost_query[] =
    "SELECT n.name, h.rate_usd_per_h, i.category,"
    " sum(i.end_ns - i.start_ns) AS ns,"
    " total((i.end_ns - i.start_ns) / 3.6e12 * i.rate) AS usd,"
    " sum(iif(i.rate IS NULL, i.end_ns - i.start_ns, 0)) AS unpriced_ns"
    " FROM (SELECT name FROM host UNION SELECT host FROM interval"
    "  UNION SELECT host FROM held) n"
    " LEFT JOIN host h ON h.name=n.name"
    " LEFT JOIN (SELECT host, category, start_ns, end_ns,"
    "  (SELECT x.rate_usd_per_h FROM held x WHERE x.host=o.host"
    "   AND x.epoch=o.epoch AND x.start_ns<=o.start_ns"
    "   ORDER BY x.start_ns DESC LIMIT 1) AS rate FROM interval o) i"
    "  ON i.host=n.name"
    " GROUP BY n.name, i.category"
    " ORDER BY h.position IS NULL, h.position, n.name";

struct cost_row {
    const char *name, *category;
    double rate_usd_per_h, usd;
    int64_t ns, unpriced_ns;
};

#define COST(member, kind) ROW_AT(struct cost_row, member, kind)
static const struct row_column cost_columns[] = {
    COST(name, TEXT), COST(category, TEXT), COST(rate_usd_per_h, REAL),
    COST(usd, REAL),  COST(ns, INT),        COST(unpriced_ns, INT),
};
static const struct row_shape cost_shape = ROW_SHAPE(NULL, cost_columns);

static int category_of(const char *name)
{
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        if (strcmp(name, ledger_category_name((enum ledger_category)i)) == 0)
            return i;
    return -1;
}

static void add_row(struct report_cost *cost, const struct cost_row *row)
{
    struct report_cost_host *host =
        cost->n_hosts ? &cost->hosts[cost->n_hosts - 1] : NULL;
    int category = category_of(row->category);

    if (!host || strcmp(host->name, row->name) != 0) {
        cost->hosts =
            mem_grow(cost->hosts, cost->n_hosts + 1, sizeof(*cost->hosts));
        host = &cost->hosts[cost->n_hosts++];
        *host =
            (struct report_cost_host){ .name = mem_strdup(row->name),
                                       .rate_usd_per_h = row->rate_usd_per_h };
    }
    if (category < 0)
        return;
    host->hours[category] += (double)row->ns / NS_PER_HOUR;
    bill_join(&host->bills[category],
              &(struct bill){ .held_ns = row->ns,
                              .unpriced_ns = row->unpriced_ns,
                              .priced_usd = row->usd });
}

static bool same_rate(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* In the order of runs, so that the newest rate is the last one. */
static void add_held(void *arg, const struct store_held *row)
{
    struct report_cost *cost = arg;
    struct report_cost_held *held;
    struct report_cost_host *host;
    const int64_t ns = row->end_ns - row->start_ns;
    size_t at = 0;

    while (at < cost->n_hosts && strcmp(cost->hosts[at].name, row->host) != 0)
        at++;
    if (at == cost->n_hosts)
        return; /* the query before names all hosts */
    host = &cost->hosts[at];
    host->repriced = host->repriced ||
                     (host->bill.held_ns > 0 &&
                      !same_rate(host->rate_usd_per_h, row->rate_usd_per_h));
    host->rate_usd_per_h = row->rate_usd_per_h;
    bill_add(&host->bill, ns, row->rate_usd_per_h);
    bill_add(&cost->bill, ns, row->rate_usd_per_h);
    if (strcmp(row->phase, "proof") == 0) {
        bill_add(&cost->proof, ns, row->rate_usd_per_h);
        host->proof_hours += (double)ns / NS_PER_HOUR;
    }
    cost->held = mem_grow(cost->held, cost->n_held + 1, sizeof(*cost->held));
    held = &cost->held[cost->n_held++];
    *held = (struct report_cost_held){ .host = at,
                                       .epoch = row->epoch,
                                       .start_utc = row->start_utc,
                                       .ns = ns,
                                       .rate_usd_per_h = row->rate_usd_per_h };
    snprintf(held->phase, sizeof(held->phase), "%s", row->phase);
}

struct bill report_cost_category(const struct report_cost *cost, int category)
{
    struct bill bill = { 0 };

    for (size_t i = 0; i < cost->n_hosts; i++)
        bill_join(&bill, &cost->hosts[i].bills[category]);
    return bill;
}

bool report_cost_is_unpriced(const struct report_cost_host *host)
{
    return host->bill.unpriced_ns > 0;
}

static void add_up(struct report_cost *cost)
{
    for (size_t i = 0; i < cost->n_hosts; i++) {
        struct report_cost_host *host = &cost->hosts[i];

        terminal_clean(host->name, false);
        host->total_hours = bill_hours(&host->bill);
        host->usd = host->bill.held_ns > 0 || !isnan(host->rate_usd_per_h)
                        ? bill_usd(&host->bill)
                        : (double)NAN;
        for (int c = 0; c < REPORT_COST_CATEGORIES; c++)
            cost->hours[c] += host->hours[c];
        cost->unpriced += report_cost_is_unpriced(host);
    }
    cost->total_hours = bill_hours(&cost->bill);
    cost->priced_usd = cost->bill.priced_usd;
    cost->total_usd = bill_usd(&cost->bill);
}

int report_cost_load(struct store *store, struct report_cost **out,
                     struct err *err)
{
    struct report_cost *cost = mem_new(1, sizeof(*cost));
    struct row_query query;
    struct cost_row row;
    int rc =
        row_open(store_db(store), cost_query, &cost_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        add_row(cost, &row);
    row_close(&query);
    if (rc >= 0)
        rc = stored_work_held(store, add_held, cost, err);
    if (rc < 0) {
        report_cost_free(cost);
        *out = NULL;
        return err_within(err, ERR_STORE, "%s", store_path(store));
    }
    add_up(cost);
    *out = cost;
    return 0;
}

void report_cost_free(struct report_cost *cost)
{
    if (!cost)
        return;
    for (size_t i = 0; i < cost->n_hosts; i++)
        free(cost->hosts[i].name);
    free(cost->hosts);
    free(cost->held);
    free(cost);
}
