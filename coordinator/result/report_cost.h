/* report_cost.h - hours and dollars, from the intervals of the ledger
 *
 * A host costs its rate for all the time it was held, idle or not.  A host
 * without a rate is unpriced: its hours are shown, but its dollars and any
 * total that includes them are unknown.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_COST_H
#define FA_COORDINATOR_RESULT_REPORT_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/schedule/ledger.h"

struct err;
struct store;

#define REPORT_COST_CATEGORIES (LEDGER_LOST + 1)

struct report_cost_host {
    char *name;
    double rate_usd_per_h; /* NaN: unpriced */
    double hours[REPORT_COST_CATEGORIES];
    double total_hours;
    double usd; /* NaN: unpriced */
};

struct report_cost {
    struct report_cost_host *hosts;
    size_t n_hosts;
    size_t unpriced; /* hosts without a rate that were held */
    double hours[REPORT_COST_CATEGORIES];
    double total_hours;
    double priced_usd; /* for the hosts that have a rate */
    double total_usd;  /* NaN if a host is unpriced */
};

/* Was it held without a known rate? */
bool report_cost_is_unpriced(const struct report_cost_host *host);

int report_cost_load(struct store *store, struct report_cost **out,
                     struct err *err);
void report_cost_free(struct report_cost *cost); /* NULL is fine */

#endif
