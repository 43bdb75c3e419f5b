/* The time of each GPU, from the leases and results of the database. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/costs/costs_internal.h"
#include "coordinator/costs/gpu_time.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/sql/row.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define NS_PER_HOUR 3.6e12

struct spans {
    struct gpu_time_span *list;
    size_t n, cap;
};

struct gpu {
    char *host, *uuid;
    struct spans spans;
};

struct gpus {
    struct gpu *list;
    size_t n;
    struct spans builds; /* of all hosts, without overlap */
};

struct span_row {
    const char *host, *gpu;
    int64_t kind, begin_utc, end_utc;
};

static const struct row_column span_columns[] = {
    ROW_AT(struct span_row, host, TEXT),
    ROW_AT(struct span_row, gpu, TEXT),
    ROW_AT(struct span_row, kind, INT),
    ROW_AT(struct span_row, begin_utc, INT),
    ROW_AT(struct span_row, end_utc, INT),
};
static const struct row_shape span_shape = ROW_SHAPE(NULL, span_columns);

static const char gpus_query[] =
    "SELECT p.host AS host, p.gpu AS gpu FROM (SELECT host, gpu FROM ready"
    " WHERE gpu<>'' UNION SELECT host, uuid FROM gpu) p"
    " LEFT JOIN gpu g ON g.uuid=p.gpu ORDER BY p.host, g.position, p.gpu";

/* What is measured ends when its result arrives and began as long before as it
 * took, but not before its lease: a replay has longer times than passed. */
#define OF_LEASE(alias)                                                 \
    " LEFT JOIN given l ON l.epoch=" alias ".epoch AND l.config=" alias \
    ".config AND l.shape=" alias ".shape AND l.purpose=" alias          \
    ".purpose AND l.round=" alias ".round AND l.attempt=" alias ".attempt"
#define BEGAN(seconds)                                    \
    " max(received_utc-CAST(" seconds "*1e9 AS INTEGER)," \
    "  coalesce(l.leased_utc, 0)) AS begin_utc, received_utc AS end_utc"

/* ?1 ... are the kinds.  Builds come first, in the order of time. */
static const char spans_query[] =
    "WITH given AS MATERIALIZED (SELECT epoch, config, shape, purpose, round,"
    " attempt, max(leased_utc) AS leased_utc FROM lease WHERE gpu<>''"
    " GROUP BY 1, 2, 3, 4, 5, 6)"
    " SELECT host, gpu, ?1 AS kind," BEGAN("held_s") " FROM result r" OF_LEASE("r") " UNION ALL SELECT host, gpu, ?2," BEGAN(
        "seconds") " FROM tool t" OF_LEASE("t") " WHERE t.purpose='external'"
                                                " UNION ALL SELECT host, gpu, "
                                                "?3, leased_utc, ended_utc "
                                                "FROM lease"
                                                "  WHERE gpu<>'' AND "
                                                "ending='lost'"
                                                " UNION ALL SELECT host, '', "
                                                "?4, start_utc, "
                                                "start_utc+end_ns-start_ns"
                                                "  FROM interval WHERE "
                                                "category IN ('acquiring', "
                                                "'setup', 'uploading')"
                                                " UNION ALL SELECT '', '', ?5, "
                                                "leased_utc, ended_utc FROM "
                                                "lease"
                                                "  WHERE stage='build' AND "
                                                "ended_utc IS NOT NULL"
                                                " ORDER BY host, gpu, "
                                                "begin_utc";

static void add_span(struct spans *spans, const struct span_row *row)
{
    if (spans->n == spans->cap) {
        spans->cap = spans->cap ? spans->cap * 2 : 64;
        spans->list = mem_grow(spans->list, spans->cap, sizeof(*spans->list));
    }
    spans->list[spans->n++] =
        (struct gpu_time_span){ row->begin_utc, row->end_utc,
                                (enum gpu_time_kind)row->kind };
}

static void add_build(struct spans *builds, const struct span_row *row)
{
    struct gpu_time_span *last =
        builds->n ? &builds->list[builds->n - 1] : NULL;

    if (last && row->begin_utc <= last->end)
        last->end = int64_max(last->end, row->end_utc);
    else
        add_span(builds, row);
}

static void take_span(struct gpus *gpus, const struct span_row *row)
{
    if (!row->host[0]) {
        add_build(&gpus->builds, row);
        return;
    }
    for (size_t i = 0; i < gpus->n; i++)
        if (strcmp(gpus->list[i].host, row->host) == 0 &&
            (!row->gpu[0] || strcmp(gpus->list[i].uuid, row->gpu) == 0))
            add_span(&gpus->list[i].spans, row);
}

static int load(struct store *store, struct gpus *gpus, struct err *err)
{
    struct row_query query;
    struct span_row row;
    int rc =
        row_open(store_db(store), gpus_query, &span_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        gpus->list = mem_grow(gpus->list, gpus->n + 1, sizeof(*gpus->list));
        gpus->list[gpus->n++] = (struct gpu){ .host = mem_strdup(row.host),
                                              .uuid = mem_strdup(row.gpu) };
    }
    row_close(&query);
    if (rc < 0)
        return rc;
    rc = row_open(store_db(store), spans_query, &span_shape, &query, err,
                  "IIIII", (int64_t)GPU_TIME_MEASURING,
                  (int64_t)GPU_TIME_EXTERNAL, (int64_t)GPU_TIME_LOST,
                  (int64_t)GPU_TIME_SETUP, (int64_t)GPU_TIME_WAITING);
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        take_span(gpus, &row);
    row_close(&query);
    return rc < 0 ? rc : 0;
}

static size_t gpus_of(const struct gpus *gpus, const char *host)
{
    size_t n = 0;

    for (size_t i = 0; i < gpus->n; i++)
        n += strcmp(gpus->list[i].host, host) == 0;
    return n;
}

static void add_lines(struct costs *costs, const struct gpus *gpus,
                      const struct gpu *gpu, const struct report_cost *cost)
{
    size_t n = gpu->spans.n + gpus->builds.n, shares = gpus_of(gpus, gpu->host);
    struct gpu_time_span *spans = mem_new(n + 1, sizeof(*spans));
    int64_t ns[GPU_TIME_KINDS] = { 0 };
    double usd[GPU_TIME_KINDS] = { 0 };
    bool has_rate = false;

    for (size_t i = 0; i < n; i++)
        spans[i] = i < gpu->spans.n ? gpu->spans.list[i]
                                    : gpus->builds.list[i - gpu->spans.n];
    for (size_t i = 0; i < cost->n_held; i++) {
        const struct report_cost_held *held = &cost->held[i];
        struct gpu_time_window window = gpu_time_window(
            held->phase, held->start_utc, held->start_utc + held->ns);
        int64_t part[GPU_TIME_KINDS] = { 0 };

        if (strcmp(cost->hosts[held->host].name, gpu->host) != 0)
            continue;
        has_rate = has_rate || !isnan(held->rate_usd_per_h);
        gpu_time_split(spans, n, &window, part);
        for (int kind = 0; kind < GPU_TIME_KINDS; kind++) {
            ns[kind] += part[kind];
            if (part[kind] > 0)
                usd[kind] += (double)part[kind] / NS_PER_HOUR *
                             held->rate_usd_per_h / (double)shares;
        }
    }
    for (int kind = 0; kind < GPU_TIME_KINDS; kind++)
        costs_add(costs,
                  (struct costs_line){
                      COSTS_GPU, mem_printf("%s %s", gpu->host, gpu->uuid),
                      gpu_time_name((enum gpu_time_kind)kind), -1,
                      (double)ns[kind] / 1e9,
                      has_rate ? usd[kind] : (double)NAN });
    free(spans);
}

static double median_rate(const struct gpus *gpus,
                          const struct report_cost *cost)
{
    double *rates = mem_new(cost->n_hosts + 1, sizeof(*rates));
    size_t n = 0;
    double median = (double)NAN;

    for (size_t i = 0; i < cost->n_hosts; i++)
        if (gpus_of(gpus, cost->hosts[i].name) > 0 &&
            !isnan(cost->hosts[i].rate_usd_per_h))
            rates[n++] = cost->hosts[i].rate_usd_per_h;
    if (n > 0)
        median = stats_median(rates, n);
    free(rates);
    return median;
}

int costs_add_gpus(struct costs *costs, struct store *store,
                   const struct report_cost *cost, double *rate_out,
                   struct err *err)
{
    struct gpus gpus = { 0 };
    int rc = load(store, &gpus, err);

    for (size_t i = 0; i < gpus.n; i++) { /* as the names of report_cost.h */
        terminal_clean(gpus.list[i].host, false);
        terminal_clean(gpus.list[i].uuid, false);
    }
    *rate_out = median_rate(&gpus, cost);
    for (size_t i = 0; rc == 0 && i < gpus.n; i++)
        add_lines(costs, &gpus, &gpus.list[i], cost);
    for (size_t i = 0; i < gpus.n; i++) {
        free(gpus.list[i].host);
        free(gpus.list[i].uuid);
        free(gpus.list[i].spans.list);
    }
    free(gpus.list);
    free(gpus.builds.list);
    return rc;
}
