/* pass_rows.h - what the tables hold that the passes of a sweep begin with
 *
 * Rows are told one by one, and their texts live for the call.  They include
 * what was put and not yet committed.  Functions return 0 or ERR_STORE.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_PASS_ROWS_H
#define FA_COORDINATOR_STORED_PASS_ROWS_H

#include <stdint.h>

#include "coordinator/store/store_rows.h"

struct err;
struct store;

/* ---- search: configurations that are settled for some shape */
int pass_rows_settled_configs(struct store *store, int64_t *out,
                              struct err *err);

/* ---- canary */

/* The correct canaries that count, of this configuration, shape and way of
 * measuring ('key' without an outcome), the oldest first. */
struct pass_rows_canary {
    const char *gpu; /* its UUID */
    int64_t received_utc;
    double median_s; /* NaN without samples */
};
typedef void pass_rows_canary_fn(void *arg,
                                 const struct pass_rows_canary *canary);
int pass_rows_canaries(struct store *store, const struct store_outcome *key,
                       pass_rows_canary_fn *fn, void *arg, struct err *err);

/* The results that settled something as correct. */
struct pass_rows_result {
    const char *config, *shape, *source_key, *measure_key;
    const char *gpu; /* its UUID */
    int64_t round, received_utc;
};
typedef void pass_rows_result_fn(void *arg,
                                 const struct pass_rows_result *result);
int pass_rows_results(struct store *store, pass_rows_result_fn *fn, void *arg,
                      struct err *err);

/* The newest round of each measurement of screening that was leased again. */
struct pass_rows_round {
    const char *config, *shape;
    int64_t round;
};
typedef void pass_rows_round_fn(void *arg, const struct pass_rows_round *round);
int pass_rows_rounds(struct store *store, pass_rows_round_fn *fn, void *arg,
                     struct err *err);

/* The round of the next canary: one more than was ever leased. */
int pass_rows_canary_round(struct store *store, int64_t *out, struct err *err);

/* GPUs that were quarantined since then, by UUID. */
typedef void pass_rows_text_fn(void *arg, const char *text);
int pass_rows_quarantined(struct store *store, int64_t since_utc,
                          pass_rows_text_fn *fn, void *arg, struct err *err);

/* ---- confirmation: runs of an external baseline that count */

/* Of this name, in the rounds between 'after' and 'before'. */
struct pass_rows_externals {
    const char *name;
    int64_t after, before;
};
/* In how many rounds it has a time. */
int pass_rows_external_blocks(struct store *store,
                              const struct pass_rows_externals *which,
                              int64_t *out, struct err *err);
/* The hosts on which it failed, by name. */
int pass_rows_external_failures(struct store *store,
                                const struct pass_rows_externals *which,
                                pass_rows_text_fn *fn, void *arg,
                                struct err *err);

/* ---- profile: the newest round from 'from' on and before 'before', or from -
 * 1 without one */
int pass_rows_profile_round(struct store *store, int64_t from, int64_t before,
                            int64_t *out, struct err *err);

#endif
