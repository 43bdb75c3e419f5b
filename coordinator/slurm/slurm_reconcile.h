/* slurm_reconcile.h - what a node was held for, as Slurm has it
 *
 * The ledger notes when a node is heard to come and go; Slurm bills it from the
 * start of its job to the end.  What was held beyond an allocation is cut, and
 * what is missing from one is added.  Where no allocation is known, what was
 * held stays.
 *
 *   held          ####            ######         ####
 *   allocated  ----------        -----
 *   edits      +++    +++             ~~         (not known)
 *
 * Pure.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_RECONCILE_H
#define FA_COORDINATOR_SLURM_SLURM_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One held interval of a host. */
struct slurm_reconcile_held {
    int64_t epoch, start_ns, end_ns; /* in the clock of that run */
    int64_t start_utc;               /* ns */
    bool is_fixed;                   /* of another database: it stays */
};

struct slurm_reconcile_allocation {
    int64_t start_utc, end_utc; /* ns */
};

enum slurm_reconcile_what {
    SLURM_RECONCILE_CUT,    /* it was not held then */
    SLURM_RECONCILE_BEFORE, /* it was, before it was heard of */
    SLURM_RECONCILE_AFTER,  /* it was, after it had left */
};

struct slurm_reconcile_edit {
    enum slurm_reconcile_what what;
    size_t held; /* whose epoch, clock, price and phase it has */
    int64_t from_ns, to_ns;
};

/* Both of one host; 'held' in the order of start_utc; 'allocations' are sorted.
 * 'out' is the caller's to free; returns how many.  Without a held interval
 * that is not fixed there are none. */
size_t slurm_reconcile(const struct slurm_reconcile_held *held, size_t n,
                       struct slurm_reconcile_allocation *allocations,
                       size_t n_allocations, struct slurm_reconcile_edit **out);

#endif
