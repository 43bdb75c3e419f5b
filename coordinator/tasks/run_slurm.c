/* What nodes of Slurm were held for, as Slurm bills it. */
#include "coordinator/tasks/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/link/dialling.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/slurm/slurm_ask.h"
#include "coordinator/slurm/slurm_files.h"
#include "coordinator/slurm/slurm_reconcile.h"
#include "coordinator/slurm/slurm_times.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/stored/stored_work.h"

#define ENDS_NS (3 * NS_PER_S) /* for jobs that were cancelled */
#define SINCE_S (24 * 3600)    /* before the first run */

struct names {
    char **list;
    size_t n;
};

static void keep_name(void *arg, const char *job)
{
    struct names *names = arg;

    names->list = mem_grow(names->list, names->n + 1, sizeof(*names->list));
    names->list[names->n++] = mem_strdup(job);
}

/* The held intervals of a host. */
struct node {
    struct store *store;
    const char *host;
    struct store_held *rows;
    struct slurm_reconcile_held *held;
    size_t n;
};

static void keep_held(void *arg, const struct store_held *row)
{
    struct node *node = arg;

    if (strcmp(row->host, node->host) != 0)
        return;
    node->rows = mem_grow(node->rows, node->n + 1, sizeof(*node->rows));
    node->held = mem_grow(node->held, node->n + 1, sizeof(*node->held));
    node->rows[node->n] = *row;
    node->rows[node->n].host = node->host;
    node->rows[node->n].phase = mem_strdup(row->phase);
    node->held[node->n++] = (struct slurm_reconcile_held){
        .epoch = row->epoch,
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .start_utc = row->start_utc,
        /* its intervals are in the database of the proof */
        .is_fixed = strcmp(row->phase, "proof") == 0,
    };
}

static int cut(const struct node *node, const struct slurm_reconcile_edit *edit,
               struct err *err)
{
    return store_held_cut(
        node->store,
        &(struct store_span){ .host = node->host,
                              .epoch = node->held[edit->held].epoch,
                              .from_ns = edit->from_ns,
                              .to_ns = edit->to_ns },
        err);
}

static int extend(const struct node *node,
                  const struct slurm_reconcile_edit *edit, struct err *err)
{
    struct store_held row = node->rows[edit->held];
    struct store_interval interval;
    int rc;

    row.start_utc += edit->from_ns - row.start_ns;
    row.start_ns = edit->from_ns;
    row.end_ns = edit->to_ns;
    interval = (struct store_interval){
        .host = row.host,
        .epoch = row.epoch,
        .start_ns = row.start_ns,
        .end_ns = row.end_ns,
        .start_utc = row.start_utc,
        .category = ledger_category_name(edit->what == SLURM_RECONCILE_BEFORE
                                             ? LEDGER_ACQUIRING
                                             : LEDGER_IDLE),
    };
    rc = store_held_put(node->store, &row, err);
    return rc < 0 ? rc : store_interval_put(node->store, &interval, err);
}

static void log_edit(const struct node *node,
                     const struct slurm_reconcile_edit *edit)
{
    log_line(LOG_I, "SLURM-BILLED", "host=%s %s=%.1fs", node->host,
             edit->what == SLURM_RECONCILE_CUT ? "cut" : "added",
             (double)(edit->to_ns - edit->from_ns) / (double)NS_PER_S);
}

/* A run that was killed had put intervals after its last held one. */
static int extend_killed(struct node *node, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < node->n && rc == 0; i++) {
        int64_t end_ns;

        if (i + 1 < node->n && node->rows[i + 1].epoch == node->rows[i].epoch)
            continue;
        rc = stored_work_last_interval(node->store, node->host,
                                       node->rows[i].epoch, &end_ns, err);
        if (rc < 0 || end_ns <= node->rows[i].end_ns)
            continue;
        node->rows[i].end_ns = node->held[i].end_ns = end_ns;
        rc = store_held_put(node->store, &node->rows[i], err);
    }
    return rc;
}

static int reconcile_node(struct store *store, const char *host,
                          struct slurm_reconcile_allocation *allocations,
                          size_t n, struct err *err)
{
    struct node node = { .store = store, .host = host };
    struct slurm_reconcile_edit *edits = NULL;
    size_t n_edits = 0;
    int rc = stored_work_held(store, keep_held, &node, err);

    if (rc == 0)
        rc = extend_killed(&node, err);
    if (rc == 0)
        n_edits = slurm_reconcile(node.held, node.n, allocations, n, &edits);
    for (size_t i = 0; i < n_edits && rc == 0; i++) {
        log_edit(&node, &edits[i]);
        rc = edits[i].what == SLURM_RECONCILE_CUT
                 ? cut(&node, &edits[i], err)
                 : extend(&node, &edits[i], err);
    }
    for (size_t i = 0; i < node.n; i++)
        free((char *)node.rows[i].phase);
    free(node.rows);
    free(node.held);
    free(edits);
    return rc;
}

/* The nodes of a job's tasks.  One that runs is held until now. */
static int reconcile_job(struct store *store, const char *job,
                         const struct slurm_times *times, struct err *err)
{
    struct slurm_reconcile_allocation *list =
        mem_new(times->n + 1, sizeof(*list));
    int most = 0, rc = 0;

    for (size_t i = 0; i < times->n; i++)
        most = times->list[i].task > most ? times->list[i].task : most;
    for (int task = 1; task <= most && rc == 0; task++) {
        char host[SLURM_NAME_BYTES + 32];
        size_t n = 0;

        for (size_t i = 0; i < times->n; i++) {
            const struct slurm_span *span = &times->list[i];

            if (span->task == task)
                list[n++] = (struct slurm_reconcile_allocation){
                    span->start_s * NS_PER_S,
                    span->end_s ? span->end_s * NS_PER_S : clock_utc_ns(),
                };
        }
        slurm_files_host(job, task, host, sizeof(host));
        rc = reconcile_node(store, host, list, n, err);
    }
    free(list);
    return rc;
}

static int reconcile(struct store *store, const char *job, struct err *err)
{
    struct slurm_times times = { .list = NULL };
    char why[SLURM_TEXT_BYTES];
    int64_t first_utc = 0, seconds;
    int rc = stored_work_first_run(store, &first_utc, err);

    seconds = (clock_utc_ns() - first_utc) / NS_PER_S + SINCE_S;
    if (rc == 0 && slurm_ask_times(job, seconds, &times, why) < 0)
        log_line(LOG_W, "SLURM-BILLED", "name=%s why=%s", job, why);
    if (rc == 0)
        rc = reconcile_job(store, job, &times, err);
    slurm_times_fini(&times);
    return rc;
}

void run_slurm_reconcile(const char *db, bool ends)
{
    struct names names = { .list = NULL };
    struct store *store = NULL;
    struct err err;
    int rc;

    dialling_jobs(db, keep_name, &names);
    if (names.n == 0 || access(db, F_OK) < 0)
        goto out;
    for (size_t i = 0; ends && i < names.n; i++)
        slurm_ask_until_ended(names.list[i], clock_boot_ns() + ENDS_NS);
    rc = store_open(db, STORE_WRITE, &store, &err);
    if (rc == 0)
        rc = run_fuzz_bill(db, store, NULL, &err);
    for (size_t i = 0; i < names.n && rc == 0; i++)
        rc = reconcile(store, names.list[i], &err);
    if (rc == 0)
        rc = store_commit(store, &err);
    if (rc < 0)
        log_line(LOG_W, "SLURM-BILLED", "why=%s", err.text);
    store_close(store);
out:
    for (size_t i = 0; i < names.n; i++)
        free(names.list[i]);
    free(names.list);
}
