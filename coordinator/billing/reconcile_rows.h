/* reconcile_rows.h - the ledger of a database, corrected for one host
 *
 * The rows of 'held' and 'interval' stay those of one time (RELIABILITY I5):
 * they add up to each other, without overlap.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_BILLING_RECONCILE_ROWS_H
#define FA_COORDINATOR_BILLING_RECONCILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/billing/reconcile.h"

struct err;
struct store;

struct reconcile_rows {
    const char *host;
    struct reconcile_allocation *allocations; /* are sorted */
    size_t n;
    double rate_usd_per_h; /* if it was never held yet; NaN: no price */
    int64_t least_ns;      /* what differs by less stays as it is */
};

/* Put the corrections, to commit.  ERR_STORE */
int reconcile_rows(struct store *store, const struct reconcile_rows *of,
                   struct err *err);

#endif
