/* stored_work.h - what the tables hold of leases, outcomes and their cost
 *
 * Single questions about the work of this run and those before.  They see what
 * was put and not yet committed.  Functions return ERR_STORE, also if the row
 * that answers is not as it was written.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_WORK_H
#define FA_COORDINATOR_STORED_STORED_WORK_H

#include <stdint.h>

struct err;
struct store;
struct store_build;
struct store_lease;
struct store_held;
struct store_outcome;

/* Each held interval, host by host and in the order of runs and times; its
 * texts die with the call. */
typedef void stored_work_held_fn(void *arg, const struct store_held *held);
int stored_work_held(struct store *store, stored_work_held_fn *fn, void *arg,
                     struct err *err);

/* The first GPU of the first host that has one: 1, or 0; an emulated one is
 * none. */
struct stored_work_gpu {
    char host[256], name[256], facts[8192]; /* JSON (gpu_arch.h) */
};
int stored_work_gpu(struct store *store, struct stored_work_gpu *out,
                    struct err *err);

/* The end of the last interval of a host in a run, which a killed coordinator
 * may have put after its last held interval; 0: no interval. */
int stored_work_last_interval(struct store *store, const char *host,
                              int64_t epoch, int64_t *end_ns, struct err *err);

/* The last run that had begun at 'utc'; 0: none. */
int stored_work_run_at(struct store *store, int64_t utc, int64_t *epoch,
                       struct err *err);

/* When the first run began, in ns since 1970; 0: there was none. */
int stored_work_first_run(struct store *store, int64_t *utc, struct err *err);

/* Seconds of a build that compiled (the mean of the last 256), and seconds that
 * hosts were held for measuring, a measurement; NaN: none yet. */
int stored_work_pace(struct store *store, double *build_s,
                     double *measurement_s, struct err *err);

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
