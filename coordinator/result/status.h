/* status.h - the progress of a sweep, for a second terminal
 *
 * Everything is read from the database, which a running coordinator updates at
 * least at every heartbeat.  Only "running" comes from the lock.
 */
#ifndef FA_COORDINATOR_RESULT_STATUS_H
#define FA_COORDINATOR_RESULT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/estimate/estimate.h"
#include "coordinator/store/dblock.h"

struct report_cost;
struct err;
struct report;
struct store;

struct status_host {
    char *name;
    char *category; /* last category in the newest run; "" if never held */
    int64_t building, measuring; /* leases in flight */
    double usd_per_h;            /* NaN: unpriced */
};

struct status {
    bool running;
    struct dblock_holder holder; /* valid if it is running */
    int64_t epoch;               /* of the newest run; 0: none yet */
    int64_t asked; /* configurations, with those that a search that runs may
                    * still ask for */
    int64_t done, total;          /* measurements: configurations x shapes */
    double per_hour;              /* outcomes in the last minutes; NaN: none */
    struct estimate_range left_s; /* NaN if unknown or not running */
    struct estimate_range left_usd; /* of hosts with a price; NaN as above */
    struct status_host *hosts;
    size_t n_hosts;
    char **waiting; /* while it runs, "HOST: whose it is" of hosts that another
                     * sweep has */
    size_t n_waiting;
};

/* 'report' is from the same store; 'now_utc' is used for the rate and for what
 * is left.  NULL while no GPU has told its facts, so that there is no report:
 * then nothing is known of measurements. */
int status_load(struct store *store, const struct report *report,
                int64_t now_utc, struct status *out, struct err *err);
void status_fini(struct status *status);

#endif
