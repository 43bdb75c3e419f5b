#include "coordinator/result/report_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define NS_PER_HOUR 3.6e12

/* A host that was listed and never held has one row without a category. */
static const char cost_query[] =
    "SELECT n.name, h.rate_usd_per_h, i.category,"
    " sum(i.end_ns - i.start_ns) AS ns"
    " FROM (SELECT name FROM host UNION SELECT host FROM interval) n"
    " LEFT JOIN host h ON h.name=n.name"
    " LEFT JOIN interval i ON i.host=n.name"
    " GROUP BY n.name, i.category"
    " ORDER BY h.position IS NULL, h.position, n.name";

struct cost_row {
    const char *name, *category;
    double rate_usd_per_h;
    int64_t ns;
};

#define COST(member, kind) ROW_AT(struct cost_row, member, kind)
static const struct row_column cost_columns[] = {
    COST(name, TEXT),
    COST(category, TEXT),
    COST(rate_usd_per_h, REAL),
    COST(ns, INT),
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
    double hours = (double)row->ns / NS_PER_HOUR;
    int category = category_of(row->category);

    if (!host || strcmp(host->name, row->name) != 0) {
        cost->hosts =
            mem_grow(cost->hosts, cost->n_hosts + 1, sizeof(*cost->hosts));
        host = &cost->hosts[cost->n_hosts++];
        *host =
            (struct report_cost_host){ .name = mem_strdup(row->name),
                                       .rate_usd_per_h = row->rate_usd_per_h };
    }
    host->total_hours += hours;
    if (category >= 0)
        host->hours[category] += hours;
}

bool report_cost_is_unpriced(const struct report_cost_host *host)
{
    return isnan(host->rate_usd_per_h) && host->total_hours > 0;
}

static void add_up(struct report_cost *cost)
{
    for (size_t i = 0; i < cost->n_hosts; i++) {
        struct report_cost_host *host = &cost->hosts[i];

        terminal_clean(host->name, false);
        host->usd = host->rate_usd_per_h * host->total_hours;
        cost->total_hours += host->total_hours;
        for (int c = 0; c < REPORT_COST_CATEGORIES; c++)
            cost->hours[c] += host->hours[c];
        if (!isnan(host->usd))
            cost->priced_usd += host->usd;
        cost->unpriced += report_cost_is_unpriced(host);
    }
    cost->total_usd = cost->unpriced ? (double)NAN : cost->priced_usd;
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
    free(cost);
}
