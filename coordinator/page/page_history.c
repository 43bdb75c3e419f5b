#include "coordinator/page/page_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

static const char *const uses[] = { "screen", "canary", "confirm" };

struct place {
    const char *key;
    size_t index; /* in the report */
};

struct loading {
    const struct report *report;
    struct page_history *out;
    struct place *places; /* [n_configs], by key */
    int64_t *settled_utc; /* [n_configs]; 0: not settled */
    int64_t *arrived;     /* [n_configs] place of its first result, 0: none */
    int64_t n_results;
};

typedef void take_row(struct loading *loading, const void *row);

static int each(struct store *store, const char *text,
                const struct row_shape *shape, void *row, take_row *take,
                struct loading *loading, struct err *err)
{
    struct row_query query;
    int rc = row_open(store_db(store), text, shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, row, err)) == 1)
        take(loading, row);
    row_close(&query);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}

/* ---- time */

static const struct page_run *run_of(const struct page_history *history,
                                     int64_t epoch)
{
    for (size_t i = 0; i < history->n_runs; i++)
        if (history->runs[i].epoch == epoch)
            return &history->runs[i];
    return NULL;
}

/* Seconds of the page, so long after the start of the run; what is outside the
 * run counts as its start or end. */
static double after_s(const struct page_run *run, int64_t ns)
{
    double s = (double)ns / 1e9;

    return run->offset_s + fmin(fmax(s, 0), run->seconds);
}

static double at_s(const struct page_run *run, int64_t utc)
{
    return after_s(run, utc - run->start_utc);
}

static size_t bin_of(const struct page_history *history, double s)
{
    double bin = s / history->total_s * PAGE_HISTORY_BINS;

    if (!(bin > 0))
        return 0;
    return bin < PAGE_HISTORY_BINS ? (size_t)bin : PAGE_HISTORY_BINS - 1;
}

static void add_span(const struct page_history *history, double *bins,
                     double from_s, double to_s)
{
    double width = history->total_s / PAGE_HISTORY_BINS;

    for (size_t b = bin_of(history, from_s); b < PAGE_HISTORY_BINS; b++) {
        double end = (double)(b + 1) * width;
        double until = to_s < end ? to_s : end;

        if (until > from_s)
            bins[b] += until - from_s;
        if (to_s <= end)
            break;
        from_s = end;
    }
}

/* ---- runs and hosts */

struct run_row {
    int64_t epoch, start_utc, start_ns, end_ns;
    const char *command;
};

static const struct row_column run_columns[] = {
    ROW_AT(struct run_row, epoch, INT), ROW_AT(struct run_row, start_utc, INT),
    ROW_AT(struct run_row, start_ns, INT), ROW_AT(struct run_row, end_ns, INT),
    ROW_AT(struct run_row, command, TEXT)
};
static const struct row_shape run_shape = ROW_SHAPE(NULL, run_columns);
static const char runs_query[] =
    "SELECT i.epoch AS epoch, r.command AS command,"
    " min(i.start_utc) AS start_utc, min(i.start_ns) AS start_ns,"
    " max(i.end_ns) AS end_ns"
    " FROM interval i JOIN run r ON r.epoch=i.epoch"
    " GROUP BY i.epoch ORDER BY i.epoch";

static void take_run(struct loading *loading, const void *at)
{
    struct page_history *out = loading->out;
    const struct run_row *row = at;

    out->runs = mem_grow(out->runs, out->n_runs + 1, sizeof(*out->runs));
    out->runs[out->n_runs++] = (struct page_run){
        .epoch = row->epoch,
        .start_utc = row->start_utc,
        .start_ns = row->start_ns,
        .offset_s = out->total_s,
        .seconds = (double)(row->end_ns - row->start_ns) / 1e9,
        .command = terminal_clean(mem_strdup(row->command), false),
    };
    out->total_s += out->runs[out->n_runs - 1].seconds;
}

struct interval_row {
    int64_t epoch, start_ns, end_ns;
    const char *host, *category;
};

static const struct row_column interval_columns[] = {
    ROW_AT(struct interval_row, epoch, INT),
    ROW_AT(struct interval_row, start_ns, INT),
    ROW_AT(struct interval_row, end_ns, INT),
    ROW_AT(struct interval_row, host, TEXT),
    ROW_AT(struct interval_row, category, TEXT)
};
static const struct row_shape interval_shape =
    ROW_SHAPE(NULL, interval_columns);
static const char intervals_query[] =
    "SELECT epoch, start_ns, end_ns, host, category"
    " FROM interval ORDER BY host, epoch, start_ns";

/* Rows come host by host. */
static struct page_host *host_of(struct page_history *out, const char *name)
{
    char *clean = terminal_clean(mem_strdup(name), false);
    struct page_host *host;

    if (out->n_hosts && strcmp(out->hosts[out->n_hosts - 1].name, clean) == 0) {
        free(clean);
        return &out->hosts[out->n_hosts - 1];
    }
    out->hosts = mem_grow(out->hosts, out->n_hosts + 1, sizeof(*out->hosts));
    host = &out->hosts[out->n_hosts++];
    *host = (struct page_host){ .name = clean };
    return host;
}

static void take_interval(struct loading *loading, const void *at)
{
    struct page_history *out = loading->out;
    const struct interval_row *row = at;
    const struct page_run *run = run_of(out, row->epoch);
    struct page_host *host;

    if (!run || out->total_s <= 0)
        return;
    host = host_of(out, row->host);
    for (int c = 0; c <= LEDGER_LOST; c++)
        if (strcmp(ledger_category_name((enum ledger_category)c),
                   row->category) == 0)
            add_span(out, host->seconds[c],
                     after_s(run, row->start_ns - run->start_ns),
                     after_s(run, row->end_ns - run->start_ns));
}

/* ---- results */

struct result_row {
    int64_t epoch, received_utc;
    const char *config, *gpu, *purpose;
    double held_s, clock_mhz, temp_c, power_w, mean_s;
    bool counted;
};

static const struct row_column result_columns[] = {
    ROW_AT(struct result_row, epoch, INT),
    ROW_AT(struct result_row, received_utc, INT),
    ROW_AT(struct result_row, config, TEXT),
    ROW_AT(struct result_row, gpu, TEXT),
    ROW_AT(struct result_row, purpose, TEXT),
    ROW_AT(struct result_row, held_s, REAL),
    ROW_AT(struct result_row, clock_mhz, REAL),
    ROW_AT(struct result_row, temp_c, REAL),
    ROW_AT(struct result_row, power_w, REAL),
    ROW_AT(struct result_row, mean_s, REAL),
    ROW_AT(struct result_row, counted, BOOL)
};
static const struct row_shape result_shape = ROW_SHAPE(NULL, result_columns);
/* In the order of the table: that in which the results came. */
static const char results_query[] =
    "SELECT epoch, received_utc, config, gpu, purpose, held_s, counted,"
    " json_extract(clock_mhz, '$[#-1]') AS clock_mhz,"
    " json_extract(temp_c, '$[#-1]') AS temp_c,"
    " json_extract(power_w, '$[#-1]') AS power_w,"
    " CASE WHEN purpose='canary' AND outcome='correct' THEN"
    "  (SELECT avg(value) FROM json_each(samples)) END AS mean_s"
    " FROM result ORDER BY rowid";

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->key,
                  ((const struct place *)b)->key);
}

static const struct place *place_of(const struct loading *loading,
                                    const char *key)
{
    return bsearch(&(struct place){ .key = key }, loading->places,
                   loading->report->n_configs, sizeof(*loading->places),
                   by_key);
}

static struct page_gpu *gpu_of(struct page_history *out, const char *uuid)
{
    for (size_t i = 0; i < out->n_gpus; i++)
        if (strcmp(out->gpus[i].uuid, uuid) == 0)
            return &out->gpus[i];
    return NULL;
}

static void add_canary(struct page_history *out, size_t gpu, double at,
                       double seconds)
{
    if ((out->n_canaries & (out->n_canaries - 1)) == 0) /* it is full */
        out->canaries =
            mem_grow(out->canaries, out->n_canaries ? 2 * out->n_canaries : 1,
                     sizeof(*out->canaries));
    out->canaries[out->n_canaries++] = (struct page_canary){ gpu, at, seconds };
}

static void take_result(struct loading *loading, const void *at)
{
    struct page_history *out = loading->out;
    const struct result_row *row = at;
    const struct page_run *run = run_of(out, row->epoch);
    const struct place *place = place_of(loading, row->config);
    struct page_gpu *gpu = gpu_of(out, row->gpu);
    double end_s;
    size_t bin;

    loading->n_results++;
    if (place && row->counted && !loading->arrived[place->index])
        loading->arrived[place->index] = loading->n_results;
    if (!run || !gpu || out->total_s <= 0)
        return;
    end_s = at_s(run, row->received_utc);
    bin = bin_of(out, end_s);
    for (int u = 0; u < PAGE_USES; u++)
        if (strcmp(uses[u], row->purpose) == 0)
            add_span(out, gpu->seconds[u],
                     fmax(run->offset_s, end_s - row->held_s), end_s);
    gpu->clock_mhz[bin] = fmin(gpu->clock_mhz[bin], row->clock_mhz);
    gpu->temp_c[bin] = fmax(gpu->temp_c[bin], row->temp_c);
    gpu->power_w[bin] = fmax(gpu->power_w[bin], row->power_w);
    if (row->mean_s > 0)
        add_canary(out, (size_t)(gpu - out->gpus), end_s, row->mean_s);
}

/* ---- outcomes */

struct settled_row {
    int64_t settled_utc;
    const char *config;
};

static const struct row_column settled_columns[] = {
    ROW_AT(struct settled_row, settled_utc, INT),
    ROW_AT(struct settled_row, config, TEXT)
};
static const struct row_shape settled_shape = ROW_SHAPE(NULL, settled_columns);
static const char settled_query[] =
    "SELECT config, max(settled_utc) AS settled_utc"
    " FROM outcome GROUP BY config";

static void take_settled(struct loading *loading, const void *at)
{
    const struct settled_row *row = at;
    const struct place *place = place_of(loading, row->config);

    if (place)
        loading->settled_utc[place->index] = row->settled_utc;
}

struct turn {
    int64_t settled_utc, arrived;
    size_t index;
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->settled_utc != y->settled_utc)
        return x->settled_utc < y->settled_utc ? -1 : 1;
    if (x->arrived != y->arrived)
        return x->arrived < y->arrived ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The run in which something happened; the last that began before it. */
static double settled_at(const struct page_history *history, int64_t utc)
{
    double s = (double)NAN;

    for (size_t i = 0; utc && i < history->n_runs; i++)
        if (history->runs[i].start_utc <= utc)
            s = at_s(&history->runs[i], utc);
    return s;
}

static void order(struct loading *loading)
{
    struct page_history *out = loading->out;
    size_t n = loading->report->n_configs;
    struct turn *turns = mem_new(n + 1, sizeof(*turns));

    out->settled_s = mem_new(n + 1, sizeof(*out->settled_s));
    out->turn = mem_new(n + 1, sizeof(*out->turn));
    for (size_t i = 0; i < n; i++) {
        int64_t utc = loading->settled_utc[i];

        turns[i] =
            (struct turn){ utc ? utc : INT64_MAX, loading->arrived[i], i };
        out->settled_s[i] = settled_at(out, utc);
    }
    qsort(turns, n, sizeof(*turns), by_turn);
    for (size_t i = 0; i < n; i++)
        out->turn[turns[i].index] = i;
    free(turns);
}

/* ---- the whole */

static void begin(struct loading *loading, const struct report *report,
                  struct page_history *out)
{
    size_t n = report->n_configs;

    *out = (struct page_history){ .n_gpus = report->n_gpus };
    *loading = (struct loading){ .report = report,
                                 .out = out,
                                 .places = mem_new(n + 1, sizeof(struct place)),
                                 .settled_utc = mem_new(n + 1, sizeof(int64_t)),
                                 .arrived = mem_new(n + 1, sizeof(int64_t)) };
    for (size_t i = 0; i < n; i++)
        loading->places[i] = (struct place){ report->configs[i].key, i };
    qsort(loading->places, n, sizeof(*loading->places), by_key);
    out->gpus = mem_new(report->n_gpus + 1, sizeof(*out->gpus));
    for (size_t g = 0; g < report->n_gpus; g++) {
        out->gpus[g].uuid = mem_strdup(report->gpus[g].uuid);
        for (size_t b = 0; b < PAGE_HISTORY_BINS; b++)
            out->gpus[g].clock_mhz[b] = out->gpus[g].temp_c[b] =
                out->gpus[g].power_w[b] = (double)NAN;
    }
}

int page_history_load(struct store *store, const struct report *report,
                      struct page_history *out, struct err *err)
{
    struct loading loading;
    struct run_row run;
    struct interval_row interval;
    struct result_row result;
    struct settled_row settled;
    int rc;

    begin(&loading, report, out);
    rc = each(store, runs_query, &run_shape, &run, take_run, &loading, err);
    if (rc == 0)
        rc = each(store, intervals_query, &interval_shape, &interval,
                  take_interval, &loading, err);
    if (rc == 0)
        rc = each(store, results_query, &result_shape, &result, take_result,
                  &loading, err);
    if (rc == 0)
        rc = each(store, settled_query, &settled_shape, &settled, take_settled,
                  &loading, err);
    if (rc == 0)
        order(&loading);
    free(loading.places);
    free(loading.settled_utc);
    free(loading.arrived);
    return rc;
}

void page_history_fini(struct page_history *history)
{
    for (size_t i = 0; i < history->n_runs; i++)
        free(history->runs[i].command);
    for (size_t i = 0; i < history->n_hosts; i++)
        free(history->hosts[i].name);
    for (size_t i = 0; i < history->n_gpus; i++)
        free(history->gpus[i].uuid);
    free(history->runs);
    free(history->hosts);
    free(history->gpus);
    free(history->canaries);
    free(history->settled_s);
    free(history->turn);
    *history = (struct page_history){ 0 };
}
