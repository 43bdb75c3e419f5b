/* stored_work.h - what the tables hold of leases, outcomes and their cost
 *
 * Single questions about the work of this run and those before.  They see what
 * was put and not yet committed.  Functions return ERR_STORE.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_WORK_H
#define FA_COORDINATOR_STORED_STORED_WORK_H

#include <stdint.h>

struct err;
struct store;
struct store_build;
struct store_lease;
struct store_outcome;

/* What all hosts were held for, in dollars at their newest rates; unpriced
 * hosts cost nothing. */
int stored_work_usd(struct store *store, double *out, struct err *err);

/* Was exactly this work leased?  1 or 0; 'attempt' and the times of 'lease' are
 * not looked at. */
int stored_work_was_leased(struct store *store, const struct store_lease *lease,
                           struct err *err);

/* Did a build of this configuration, from these sources, make this artifact?
 * 1 or 0; only those three members of 'build' are looked at, and the source
 * key "" stands for all sources there were. */
int stored_work_was_built(struct store *store, const struct store_build *build,
                          struct err *err);

/* Is the configuration correct for the shape, with these sources and this way
 * of measuring?  1 or 0; only those four members of 'key' are looked at. */
int stored_work_is_correct(struct store *store, const struct store_outcome *key,
                           struct err *err);

/* Outcomes of all sources, shapes and ways of measuring. */
int stored_work_outcomes(struct store *store, int64_t *out, struct err *err);

#endif
