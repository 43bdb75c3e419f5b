/* page_history.h - what hosts and GPUs did over time, in bins
 *
 * Time is that of the runs laid end to end: nothing was held between two runs,
 * so the pauses are left out.  Seconds count from the start of the first run.
 * An imported database has no such time; then 'total_s' is 0.
 * Immutable once loaded.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_HISTORY_H
#define FA_COORDINATOR_PAGE_PAGE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/ledger.h"

struct err;
struct report;
struct store;

#define PAGE_HISTORY_BINS 240

struct page_run {
    int64_t epoch, start_utc;
    int64_t start_ns; /* CLOCK_BOOTTIME of the coordinator */
    double offset_s, seconds;
    char *command; /* sweep, resume, confirm, bench */
};

/* What a GPU was held for. */
enum page_use {
    PAGE_USE_SCREEN,
    PAGE_USE_CANARY,
    PAGE_USE_CONFIRM,
    PAGE_USES
};

/* Seconds of each bin; arrays are [PAGE_HISTORY_BINS]. */
struct page_host {
    char *name;
    double seconds[LEDGER_LOST + 1][PAGE_HISTORY_BINS];
};

/* Readings are those at the end of a measurement; NaN: none in that bin. */
struct page_gpu {
    char *uuid;
    double seconds[PAGE_USES][PAGE_HISTORY_BINS];
    double clock_mhz[PAGE_HISTORY_BINS]; /* the lowest */
    double temp_c[PAGE_HISTORY_BINS];    /* the highest */
    double power_w[PAGE_HISTORY_BINS];   /* the highest */
};

struct page_canary {
    size_t gpu; /* index in 'gpus' */
    double at_s, seconds;
};

struct page_history {
    struct page_run *runs;
    size_t n_runs;
    double total_s;
    struct page_host *hosts;
    size_t n_hosts;
    struct page_gpu *gpus; /* those of the report, in its order */
    size_t n_gpus;
    struct page_canary *canaries; /* means of their samples */
    size_t n_canaries;
    /* For each configuration of the report, in its order: */
    double *settled_s; /* NaN: not settled, or there is no time */
    size_t *turn;      /* its place in the order in which they settled */
};

/* ERR_STORE.  Call page_history_fini(), even after an error. */
int page_history_load(struct store *store, const struct report *report,
                      struct page_history *out, struct err *err);
void page_history_fini(struct page_history *history);

#endif
