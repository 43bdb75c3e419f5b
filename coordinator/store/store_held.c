#include "coordinator/store/store_held.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_internal.h"
#include "coordinator/store/store_rows.h"

#define IN_SPAN " WHERE host=? AND epoch=? AND end_ns>? AND start_ns<?"

/* What is left of the rows that reach into a span. */
struct rest {
    struct store_held *helds;
    struct store_interval *intervals;
    size_t n_helds, n_intervals;
};

/* The parts of a time before and after the span: how many. */
static int parts(const struct store_span *span, int64_t start_ns,
                 int64_t end_ns, int64_t out[2][2])
{
    int n = 0;

    if (start_ns < span->from_ns) {
        out[n][0] = start_ns;
        out[n++][1] = span->from_ns;
    }
    if (end_ns > span->to_ns) {
        out[n][0] = span->to_ns;
        out[n++][1] = end_ns;
    }
    return n;
}

static void keep_held(struct rest *rest, const struct store_span *span,
                      const struct store_held *row)
{
    int64_t part[2][2];
    int n = parts(span, row->start_ns, row->end_ns, part);

    for (int i = 0; i < n; i++) {
        struct store_held *to;

        rest->helds =
            mem_grow(rest->helds, rest->n_helds + 1, sizeof(*rest->helds));
        to = &rest->helds[rest->n_helds++];
        *to = *row;
        to->host = span->host;
        to->phase = mem_strdup(row->phase);
        to->start_ns = part[i][0];
        to->end_ns = part[i][1];
        to->start_utc += to->start_ns - row->start_ns;
    }
}

static void keep_interval(struct rest *rest, const struct store_span *span,
                          const struct store_interval *row)
{
    int64_t part[2][2];
    int n = parts(span, row->start_ns, row->end_ns, part);

    for (int i = 0; i < n; i++) {
        struct store_interval *to;

        rest->intervals = mem_grow(rest->intervals, rest->n_intervals + 1,
                                   sizeof(*rest->intervals));
        to = &rest->intervals[rest->n_intervals++];
        *to = *row;
        to->host = span->host;
        to->category = mem_strdup(row->category);
        to->start_ns = part[i][0];
        to->end_ns = part[i][1];
        to->start_utc += to->start_ns - row->start_ns;
    }
}

static int read_rest(struct store *store, const struct store_span *span,
                     struct rest *rest, struct err *err)
{
    struct store_interval interval;
    struct store_held held;
    struct row_query query;
    int rc = row_open(store_db(store), "SELECT * FROM held" IN_SPAN,
                      &store_rows_held, &query, err, "sIII", span->host,
                      span->epoch, span->from_ns, span->to_ns);

    while (rc >= 0 && (rc = row_next(&query, &held, err)) == 1)
        keep_held(rest, span, &held);
    row_close(&query);
    if (rc < 0)
        return rc;
    rc = row_open(store_db(store), "SELECT * FROM interval" IN_SPAN,
                  &store_rows_interval, &query, err, "sIII", span->host,
                  span->epoch, span->from_ns, span->to_ns);
    while (rc >= 0 && (rc = row_next(&query, &interval, err)) == 1)
        keep_interval(rest, span, &interval);
    row_close(&query);
    return rc;
}

int store_held_cut(struct store *store, const struct store_span *span,
                   struct err *err)
{
    struct rest rest = { .helds = NULL };
    int rc = read_rest(store, span, &rest, err);

    if (rc == 0)
        rc = store_span_drop(store, span, err);
    for (size_t i = 0; i < rest.n_helds; i++) {
        if (rc == 0)
            rc = store_held_put(store, &rest.helds[i], err);
        free((char *)rest.helds[i].phase);
    }
    for (size_t i = 0; i < rest.n_intervals; i++) {
        if (rc == 0)
            rc = store_interval_put(store, &rest.intervals[i], err);
        free((char *)rest.intervals[i].category);
    }
    free(rest.helds);
    free(rest.intervals);
    return rc;
}
