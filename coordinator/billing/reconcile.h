/* reconcile.h - what a host was held for, as those who bill it have it
 *
 * The ledger notes when a host is heard to come and go, while a coordinator
 * runs.  A host is billed from the start of an allocation to its end: that of a
 * job of Slurm, or of a machine that start= acquired.  What was held beyond an
 * allocation is cut, and what is missing from one is added.  Where no
 * allocation is known, what was held stays.
 *
 *   held          ####            ######         ####
 *   allocated  ----------        -----
 *   edits      +++    +++             ~~         (not known)
 *
 * Pure.
 */
#ifndef FA_COORDINATOR_BILLING_RECONCILE_H
#define FA_COORDINATOR_BILLING_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One held interval of a host. */
struct reconcile_held {
    int64_t epoch, start_ns, end_ns; /* in the clock of that run */
    int64_t start_utc;               /* ns */
    bool is_fixed;                   /* of another database: it stays */
};

struct reconcile_allocation {
    int64_t start_utc, end_utc;   /* ns */
    const double *rate_usd_per_h; /* its own; NULL: that of what was held near
                                   * it */
};

enum reconcile_what {
    RECONCILE_CUT,    /* it was not held then */
    RECONCILE_BEFORE, /* it was, before it was heard of */
    RECONCILE_AFTER,  /* it was, after it had left */
};

struct reconcile_edit {
    enum reconcile_what what;
    size_t held; /* whose epoch, clock and phase it has */
    int64_t from_ns, to_ns;
    const double *rate_usd_per_h; /* of its allocation */
};

/* Both of one host; 'held' in the order of start_utc; 'allocations' are sorted.
 * 'out' is the caller's to free; returns how many.  Without a held interval
 * that is not fixed there are none. */
size_t reconcile(const struct reconcile_held *held, size_t n,
                 struct reconcile_allocation *allocations, size_t n_allocations,
                 struct reconcile_edit **out);

#endif
