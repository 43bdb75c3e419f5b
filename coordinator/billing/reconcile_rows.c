#include "coordinator/billing/reconcile_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/stored/stored_work.h"

/* The held intervals of a host. */
struct host_rows {
    struct store *store;
    const char *host;
    struct store_held *list;
    struct reconcile_held *held;
    size_t n;
};

static void keep_held(void *arg, const struct store_held *row)
{
    struct host_rows *rows = arg;

    if (strcmp(row->host, rows->host) != 0)
        return;
    rows->list = mem_grow(rows->list, rows->n + 1, sizeof(*rows->list));
    rows->held = mem_grow(rows->held, rows->n + 1, sizeof(*rows->held));
    rows->list[rows->n] = *row;
    rows->list[rows->n].host = rows->host;
    rows->list[rows->n].phase = mem_strdup(row->phase);
    rows->held[rows->n++] = (struct reconcile_held){
        .epoch = row->epoch,
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .start_utc = row->start_utc,
        /* its intervals are in the database of the proof */
        .is_fixed = strcmp(row->phase, "proof") == 0,
    };
}

/* Runs are stored in their order.  If the clock was set back, the next run's
 * UTC is before that of the last one. */
static void sort_by_utc(struct host_rows *rows)
{
    for (size_t i = 1; i < rows->n; i++) {
        const struct store_held row = rows->list[i];
        const struct reconcile_held held = rows->held[i];
        size_t at = i;

        for (; at > 0 && rows->held[at - 1].start_utc > held.start_utc; at--) {
            rows->list[at] = rows->list[at - 1];
            rows->held[at] = rows->held[at - 1];
        }
        rows->list[at] = row;
        rows->held[at] = held;
    }
}

static int cut(const struct host_rows *rows, const struct reconcile_edit *edit,
               struct err *err)
{
    return store_held_cut(
        rows->store,
        &(struct store_span){ .host = rows->host,
                              .epoch = rows->held[edit->held].epoch,
                              .from_ns = edit->from_ns,
                              .to_ns = edit->to_ns },
        err);
}

/* A held row, or a longer one, and an interval. */
static int add(struct store *store, const struct store_held *held,
               int64_t from_ns, enum ledger_category category, struct err *err)
{
    const struct store_interval interval = {
        .host = held->host,
        .epoch = held->epoch,
        .start_ns = from_ns,
        .end_ns = held->end_ns,
        .start_utc = held->start_utc + from_ns - held->start_ns,
        .category = ledger_category_name(category),
    };
    int rc = store_held_put(store, held, err);

    return rc < 0 ? rc : store_interval_put(store, &interval, err);
}

static bool is_same_rate(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static int extend(struct host_rows *rows, const struct reconcile_edit *edit,
                  struct err *err)
{
    struct store_held *of = &rows->list[edit->held], row = *of;

    if (edit->rate_usd_per_h)
        row.rate_usd_per_h = *edit->rate_usd_per_h;
    if (edit->what == RECONCILE_AFTER && edit->from_ns == of->end_ns &&
        is_same_rate(row.rate_usd_per_h, of->rate_usd_per_h)) {
        of->end_ns = edit->to_ns;
        return add(rows->store, of, edit->from_ns, LEDGER_IDLE, err);
    }
    row.start_utc += edit->from_ns - row.start_ns;
    row.start_ns = edit->from_ns;
    row.end_ns = edit->to_ns;
    return add(rows->store, &row, row.start_ns,
               edit->what == RECONCILE_BEFORE ? LEDGER_ACQUIRING : LEDGER_IDLE,
               err);
}

static void log_edit(const struct host_rows *rows, bool is_cut, int64_t ns)
{
    log_line(LOG_I, "HOST-BILLED", "host=%s %s=%.1fs", rows->host,
             is_cut ? "cut" : "added", (double)ns / (double)NS_PER_S);
}

/* A run that was killed had put intervals after its last held one. */
static int extend_killed(struct host_rows *rows, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < rows->n && rc == 0; i++) {
        int64_t end_ns;

        if (i + 1 < rows->n && rows->list[i + 1].epoch == rows->list[i].epoch)
            continue;
        rc = stored_work_last_interval(rows->store, rows->host,
                                       rows->list[i].epoch, &end_ns, err);
        if (rc < 0 || end_ns <= rows->list[i].end_ns)
            continue;
        rows->list[i].end_ns = rows->held[i].end_ns = end_ns;
        rc = store_held_put(rows->store, &rows->list[i], err);
    }
    return rc;
}

/* The coordinator was killed before it had put any row of the host.  Any clock
 * will do. */
static int begin(struct host_rows *rows, const struct reconcile_rows *of,
                 struct err *err)
{
    const struct reconcile_allocation *first = &of->allocations[0];
    struct store_held row = { .host = of->host,
                              .start_utc = first->start_utc,
                              .rate_usd_per_h = of->rate_usd_per_h,
                              .phase = "search" };
    int rc = stored_work_run_at(rows->store, first->start_utc, &row.epoch, err);

    if (rc < 0 || row.epoch == 0)
        return rc;
    row.start_ns = first->start_utc - row.epoch;
    row.end_ns = row.start_ns + 1;
    rc = add(rows->store, &row, row.start_ns, LEDGER_ACQUIRING, err);
    keep_held(rows, &row);
    return rc;
}

static int apply(struct host_rows *rows, const struct reconcile_rows *of,
                 struct err *err)
{
    struct reconcile_edit *edits = NULL;
    size_t n = reconcile(rows->held, rows->n, of->allocations, of->n, &edits);
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        int64_t ns = edits[i].to_ns - edits[i].from_ns;
        bool is_cut = edits[i].what == RECONCILE_CUT;

        if (ns < of->least_ns)
            continue;
        log_edit(rows, is_cut, ns);
        rc = is_cut ? cut(rows, &edits[i], err) : extend(rows, &edits[i], err);
    }
    free(edits);
    return rc;
}

int reconcile_rows(struct store *store, const struct reconcile_rows *of,
                   struct err *err)
{
    struct host_rows rows = { .store = store, .host = of->host };
    int rc = stored_work_held(store, keep_held, &rows, err);

    if (rc == 0)
        rc = extend_killed(&rows, err);
    if (rc == 0 && rows.n == 0 && of->n > 0)
        rc = begin(&rows, of, err);
    sort_by_utc(&rows);
    if (rc == 0)
        rc = apply(&rows, of, err);
    for (size_t i = 0; i < rows.n; i++)
        free((char *)rows.list[i].phase);
    free(rows.list);
    free(rows.held);
    return rc;
}
