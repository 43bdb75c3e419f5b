/* What nodes of Slurm were held for, as Slurm bills it. */
#include "coordinator/tasks/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/billing/reconcile_rows.h"
#include "coordinator/link/dialling.h"
#include "coordinator/slurm/slurm_ask.h"
#include "coordinator/slurm/slurm_files.h"
#include "coordinator/slurm/slurm_times.h"
#include "coordinator/store/store.h"
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

static double rate_of(const struct hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (hosts->list[i].has_rate && strcmp(hosts->list[i].name, name) == 0)
            return hosts->list[i].rate;
    return (double)NAN;
}

/* The nodes of a job's tasks.  One that runs is held until now. */
static int reconcile_job(struct store *store, const struct hosts *hosts,
                         const char *job, const struct slurm_times *times,
                         struct err *err)
{
    struct reconcile_allocation *list = mem_new(times->n + 1, sizeof(*list));
    int most = 0, rc = 0;

    for (size_t i = 0; i < times->n; i++)
        most = times->list[i].task > most ? times->list[i].task : most;
    for (int task = 1; task <= most && rc == 0; task++) {
        char host[SLURM_NAME_BYTES + 32];
        size_t n = 0;

        for (size_t i = 0; i < times->n; i++) {
            const struct slurm_span *span = &times->list[i];

            if (span->task == task)
                list[n++] = (struct reconcile_allocation){
                    .start_utc = span->start_s * NS_PER_S,
                    .end_utc =
                        span->end_s ? span->end_s * NS_PER_S : clock_utc_ns(),
                };
        }
        slurm_files_host(job, task, host, sizeof(host));
        rc = reconcile_rows(
            store,
            &(struct reconcile_rows){ .host = host,
                                      .allocations = list,
                                      .n = n,
                                      .rate_usd_per_h = rate_of(hosts, host) },
            err);
    }
    free(list);
    return rc;
}

static int reconcile_name(struct store *store, const struct hosts *hosts,
                          const char *job, struct err *err)
{
    struct slurm_times times = { .list = NULL };
    char why[SLURM_TEXT_BYTES];
    int64_t first_utc = 0, seconds;
    int rc = stored_work_first_run(store, &first_utc, err);

    seconds = (clock_utc_ns() - first_utc) / NS_PER_S + SINCE_S;
    if (rc == 0 && slurm_ask_times(job, seconds, &times, why) < 0)
        log_line(LOG_W, "HOST-BILLED", "name=%s why=%s", job, why);
    if (rc == 0)
        rc = reconcile_job(store, hosts, job, &times, err);
    slurm_times_fini(&times);
    return rc;
}

void run_slurm_reconcile(const struct run *run, bool ends)
{
    const char *db = run->db;
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
        rc = reconcile_name(store, &run->hosts, names.list[i], &err);
    if (rc == 0)
        rc = store_commit(store, &err);
    if (rc < 0)
        log_line(LOG_W, "HOST-BILLED", "why=%s", err.text);
    store_close(store);
out:
    for (size_t i = 0; i < names.n; i++)
        free(names.list[i]);
    free(names.list);
}
