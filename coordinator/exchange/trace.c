#include "coordinator/exchange/trace.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/json_out.h"

#define LANES_MAX 64 /* of one kind on one host */
#define NS_PER_US 1e3

struct span {
    const char *host, *lane, *name, *kind, *config, *detail;
    int64_t begin_utc, end_utc;
};

static const struct row_column span_columns[] = {
    ROW_AT(struct span, host, TEXT),     ROW_AT(struct span, lane, TEXT),
    ROW_AT(struct span, name, TEXT),     ROW_AT(struct span, kind, TEXT),
    ROW_AT(struct span, config, TEXT),   ROW_AT(struct span, detail, TEXT),
    ROW_AT(struct span, begin_utc, INT), ROW_AT(struct span, end_utc, INT),
};
static const struct row_shape span_shape = ROW_SHAPE(NULL, span_columns);

/* A build and a measurement end when they are received, and begin as long
 * before as they took, but not before they were leased: in a replay they took
 * as long as recorded.  What was built from the cache took no time. */
#define BEGIN(seconds)                                    \
    " max(received_utc-CAST(" seconds "*1e9 AS INTEGER)," \
    " coalesce(l.leased_utc, 0)), received_utc"
#define LEASE(of, stage, shape, purpose, round)                   \
    " LEFT JOIN given l ON l.epoch=" of ".epoch AND l.config=" of \
    ".config AND l.attempt=" of ".attempt AND l.stage='" stage    \
    "' AND l.shape=" shape " AND l.purpose=" purpose " AND l.round=" round

static const char spans_query[] =
    "WITH place AS (SELECT g.uuid AS uuid, 'GPU ' || g.position || ' ' || "
    "g.name AS name FROM gpu g), "
    "given AS MATERIALIZED (SELECT epoch, config, shape, purpose, stage,"
    " round, attempt, max(leased_utc) AS leased_utc FROM lease"
    " GROUP BY 1, 2, 3, 4, 5, 6, 7) "
    "SELECT host, '0 host' AS lane, category AS name, 'host' AS kind,"
    " coalesce((SELECT l.config FROM lease l WHERE l.epoch=i.epoch AND"
    " l.id=i.lease),'') AS config, '' AS detail, start_utc AS begin_utc,"
    " start_utc+end_ns-start_ns AS end_utc FROM interval i "
    "UNION ALL SELECT host, '1 builds', b.purpose || ' ' || outcome, 'build',"
    " b.config, detail," BEGIN("seconds") " FROM build b" LEASE(
        "b", "build", "''", "b.purpose",
        "0") " WHERE cached=0 "
             "UNION ALL SELECT host, '2 ' || coalesce((SELECT name FROM place "
             "WHERE"
             " uuid=r.gpu),r.gpu), r.purpose || ' ' || outcome, 'measure', "
             "r.config,"
             " r.shape || CASE detail WHEN '' THEN '' ELSE ': ' || detail "
             "END," BEGIN("held_s") " FROM result r" LEASE(
                 "r", "measure", "r.shape", "r.purpose",
                 "r.round") " "
                            "UNION ALL SELECT host, '2 ' || coalesce((SELECT "
                            "name FROM place WHERE"
                            " uuid=t.gpu),t.gpu), t.purpose || ' ' || t.name "
                            "|| ' ' || outcome,"
                            " 'tool', t.config, detail," BEGIN(
                                "seconds") " FROM tool t" LEASE("t", "tool",
                                                                "t.shape",
                                                                "t.purpose",
                                                                "t.round") " "
                                                                           "ORD"
                                                                           "ER "
                                                                           "BY "
                                                                           "hos"
                                                                           "t, "
                                                                           "lan"
                                                                           "e, "
                                                                           "beg"
                                                                           "in_"
                                                                           "utc"
                                                                           ", "
                                                                           "end"
                                                                           "_ut"
                                                                           "c "
                                                                           "DES"
                                                                           "C";

static const char events_query[] =
    "SELECT '' AS host, '' AS lane, name, level AS kind, '' AS config,"
    " text AS detail, at_utc AS begin_utc, at_utc AS end_utc FROM event"
    " WHERE level<>'I' ORDER BY id";

/* Lanes of one kind on one host, and when the last span of each ends. */
struct lanes {
    char *host, *kind;
    int64_t ends[LANES_MAX];
    int n;
    int64_t pid, tid; /* of the host; of the first lane */
};

struct trace {
    struct json_out out;
    struct lanes lanes;
    int64_t origin_utc; /* the beginning */
    int64_t next_tid;
    struct err *err;
};

static void put_time(struct trace *trace, const char *key, int64_t ns)
{
    json_out_real(&trace->out, key, (double)ns / NS_PER_US);
}

/* A name for a process or a thread, in the order of their numbers. */
static void put_label(struct trace *trace, const char *what, int64_t tid,
                      const char *label)
{
    struct json_out *out = &trace->out;

    json_out_open(out, NULL, '{');
    json_out_text(out, "ph", "M");
    json_out_text(out, "name", what);
    json_out_int(out, "pid", trace->lanes.pid);
    json_out_int(out, "tid", tid);
    json_out_open(out, "args", '{');
    json_out_text(out, "name", label);
    json_out_close(out);
    json_out_close(out);
}

/* The lanes of this span, new ones if it is the first of its kind. */
static void find_lanes(struct trace *trace, const struct span *span)
{
    struct lanes *lanes = &trace->lanes;
    bool same_host = lanes->host && strcmp(lanes->host, span->host) == 0;

    if (same_host && strcmp(lanes->kind, span->lane) == 0)
        return;
    lanes->pid += !same_host;
    free(lanes->host);
    free(lanes->kind);
    lanes->host = mem_strdup(span->host);
    lanes->kind = mem_strdup(span->lane);
    lanes->n = 0;
    trace->next_tid += LANES_MAX;
    lanes->tid = trace->next_tid;
    if (!same_host)
        put_label(trace, "process_name", lanes->tid, span->host);
}

/* The first lane that is free; if all are in use, the span begins when the
 * first of them ends. */
static int64_t lane_of(struct trace *trace, struct span *span)
{
    struct lanes *lanes = &trace->lanes;
    const char *label = span->lane + 2; /* behind its place in the order */
    char *further;
    int lane = 0;

    for (int i = 0; i < lanes->n; i++)
        if (lanes->ends[i] < lanes->ends[lane])
            lane = i;
    if ((lanes->n == 0 || lanes->ends[lane] > span->begin_utc) &&
        lanes->n < LANES_MAX) {
        lane = lanes->n++;
        further = mem_printf("%s (%d)", label, lane + 1);
        put_label(trace, "thread_name", lanes->tid + lane,
                  lane ? further : label);
        free(further);
    } else if (lanes->ends[lane] > span->begin_utc) {
        span->begin_utc = lanes->ends[lane];
    }
    if (span->begin_utc < trace->origin_utc)
        span->begin_utc = trace->origin_utc;
    if (span->end_utc < span->begin_utc)
        span->end_utc = span->begin_utc;
    lanes->ends[lane] = span->end_utc;
    return lanes->tid + lane;
}

static void put_args(struct trace *trace, const struct span *span)
{
    json_out_open(&trace->out, "args", '{');
    if (*span->config)
        json_out_text(&trace->out, "config", span->config);
    if (*span->detail)
        json_out_text(&trace->out, "detail", span->detail);
    json_out_close(&trace->out);
}

static void put_span(struct trace *trace, struct span *span)
{
    struct json_out *out = &trace->out;
    int64_t tid;

    find_lanes(trace, span);
    tid = lane_of(trace, span);
    json_out_open(out, NULL, '{');
    json_out_text(out, "ph", "X");
    json_out_text(out, "name", span->name);
    json_out_text(out, "cat", span->kind);
    json_out_int(out, "pid", trace->lanes.pid);
    json_out_int(out, "tid", tid);
    put_time(trace, "ts", span->begin_utc - trace->origin_utc);
    put_time(trace, "dur", span->end_utc - span->begin_utc);
    put_args(trace, span);
    json_out_close(out);
}

/* Warnings and errors of the log. */
static void put_event(struct trace *trace, struct span *span)
{
    struct json_out *out = &trace->out;

    json_out_open(out, NULL, '{');
    json_out_text(out, "ph", "i");
    json_out_text(out, "s", "g");
    json_out_text(out, "name", span->name);
    json_out_text(out, "cat", *span->kind == 'E' ? "error" : "warning");
    json_out_int(out, "pid", 1);
    json_out_int(out, "tid", LANES_MAX);
    put_time(trace, "ts", span->begin_utc - trace->origin_utc);
    put_args(trace, span);
    json_out_close(out);
}

static int each(struct trace *trace, struct store *store, const char *text,
                void (*put)(struct trace *trace, struct span *span))
{
    struct row_query query;
    struct span span;
    int rc =
        row_open(store_db(store), text, &span_shape, &query, trace->err, "");

    while (rc >= 0 && (rc = row_next(&query, &span, trace->err)) == 1)
        put(trace, &span);
    row_close(&query);
    return rc;
}

struct times {
    int64_t first_utc, imported;
};

static const struct row_column times_columns[] = {
    ROW_AT(struct times, first_utc, INT),
    ROW_AT(struct times, imported, INT),
};
static const struct row_shape times_shape = ROW_SHAPE(NULL, times_columns);

/* The first run begins before everything that it did. */
static int read_times(struct trace *trace, struct store *store)
{
    struct times times = { 0, 0 };
    int rc = row_first(store_db(store),
                       "SELECT min(epoch) AS first_utc,"
                       " max(command='import') AS imported FROM run",
                       &times_shape, &times, trace->err, "");

    if (rc < 0)
        return rc;
    if (times.imported)
        return err_set(trace->err, ERR_INPUT,
                       "%s was imported; the record does not say what hosts "
                       "did, so there is no trace",
                       store_path(store));
    trace->origin_utc = times.first_utc;
    return 0;
}

int trace_write(struct store *store, FILE *to, struct err *err)
{
    struct trace trace = { .err = err };
    int rc = read_times(&trace, store);

    if (rc < 0)
        return rc;
    json_out_init(&trace.out, to);
    json_out_open(&trace.out, NULL, '{');
    json_out_text(&trace.out, "displayTimeUnit", "ms");
    json_out_open(&trace.out, "otherData", '{');
    json_out_utc(&trace.out, "began", trace.origin_utc);
    json_out_close(&trace.out);
    json_out_open(&trace.out, "traceEvents", '[');
    rc = each(&trace, store, spans_query, put_span);
    if (rc == 0)
        rc = each(&trace, store, events_query, put_event);
    json_out_close(&trace.out);
    json_out_close(&trace.out);
    free(trace.lanes.host);
    free(trace.lanes.kind);
    return rc;
}
