/* report_cost.h - hours and dollars, from the intervals of the ledger
 *
 * A host costs its rate for all the time it was held, idle or not, at the rate
 * of that time.  A host without a rate is unpriced: its hours are shown, but
 * its dollars and any total that includes them are unknown.  The proof of the
 * finalists counts, though its database has what it was spent on.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_COST_H
#define FA_COORDINATOR_RESULT_REPORT_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/bill.h"
#include "coordinator/schedule/ledger.h"

struct err;
struct store;

#define REPORT_COST_CATEGORIES (LEDGER_LOST + 1)

/* A host was held once, at one rate. */
struct report_cost_held {
    size_t host; /* its index */
    int64_t epoch, start_utc, ns;
    double rate_usd_per_h; /* NaN: unpriced */
    char phase[16];        /* search proof confirm bench profile builds */
};

struct report_cost_host {
    char *name;
    double rate_usd_per_h; /* the newest; NaN: unpriced */
    bool repriced;         /* it had another one, too */
    double hours[REPORT_COST_CATEGORIES];
    struct bill bills[REPORT_COST_CATEGORIES]; /* at the rates of the time */
    double proof_hours;
    double total_hours;
    double usd; /* NaN if it was held without a rate */
    struct bill bill;
};

struct report_cost {
    struct report_cost_host *hosts;
    size_t n_hosts;
    struct report_cost_held *held;
    size_t n_held;
    size_t unpriced; /* hosts that were held without a rate */
    double hours[REPORT_COST_CATEGORIES];
    struct bill bill, proof; /* of all, and the proof alone */
    double total_hours;
    double priced_usd; /* for what has a rate */
    double total_usd;  /* NaN if a host is unpriced */
};

/* What all hosts were held for in a category. */
struct bill report_cost_category(const struct report_cost *cost, int category);

/* Was it held without a known rate? */
bool report_cost_is_unpriced(const struct report_cost_host *host);

int report_cost_load(struct store *store, struct report_cost **out,
                     struct err *err);
void report_cost_free(struct report_cost *cost); /* NULL is fine */

#endif
