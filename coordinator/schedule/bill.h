/* bill.h - the sum of what hosts cost
 *
 * The one way to add up money: the live line, 'status', the report and the
 * budget add the same held intervals (ledger.h) with it.  An unpriced interval
 * has hours and unknown dollars, so a total with one is unknown, and what the
 * priced ones cost is known all the same.
 *
 * A bill of zeros is empty.  Pure.
 */
#ifndef FA_COORDINATOR_SCHEDULE_BILL_H
#define FA_COORDINATOR_SCHEDULE_BILL_H

#include <stdbool.h>
#include <stdint.h>

struct bill {
    int64_t held_ns;     /* of all hosts */
    int64_t unpriced_ns; /* of those, without a rate */
    double priced_usd;   /* for the others */
};

/* A host was held for 'ns' at this rate (USD per hour; NaN: unpriced). */
void bill_add(struct bill *bill, int64_t ns, double rate_usd_per_h);
void bill_join(struct bill *bill, const struct bill *other);

double bill_hours(const struct bill *bill);
/* Dollars; NaN if something is unpriced. */
double bill_usd(const struct bill *bill);
bool bill_has_price(const struct bill *bill); /* any of it */

#endif
