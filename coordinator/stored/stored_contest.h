/* stored_contest.h - what the tables hold of passes of confirmation and bench
 *
 * Rows are told one by one; their texts live for the call.  Functions return
 * ERR_STORE.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_CONTEST_H
#define FA_COORDINATOR_STORED_STORED_CONTEST_H

#include <stdint.h>

#include "common/hash.h"
#include "coordinator/store/store_contest.h"
#include "coordinator/store/store_rows.h"

struct err;
struct store;

/* The newest pass of all, 0 without one. */
int stored_contest_last(struct store *store, int64_t *pass_out,
                        struct err *err);

/* What a configuration was built from: 1, or 0 when it is not known. */
int stored_contest_source(struct store *store, const char *config,
                          char source_key_out[HASH_HEX], struct err *err);

/* The newest pass of this kind of the sweep, or, when 'pass' is not 0, that
 * one: 1, or 0 if it does not exist. */
typedef void stored_contest_fn(void *arg, const struct store_contest *contest);
int stored_contest_find(struct store *store, int64_t sweep, const char *kind,
                        int64_t pass, stored_contest_fn *fn, void *arg,
                        struct err *err);

/* Its contestants and its shapes, in order. */
typedef void stored_contest_entry_fn(void *arg,
                                     const struct store_contestant *entry);
int stored_contest_entries(struct store *store, int64_t pass,
                           stored_contest_entry_fn *fn, void *arg,
                           struct err *err);
typedef void stored_contest_shape_fn(void *arg,
                                     const struct store_contest_shape *shape);
int stored_contest_shapes(struct store *store, int64_t pass,
                          stored_contest_shape_fn *fn, void *arg,
                          struct err *err);

/* The counted results of its rounds, those between 'first' and 'end', by
 * round; entry and shape are positions. */
struct stored_contest_result {
    int64_t entry, shape, round;
    const char *gpu, *outcome, *detail;
    const char *samples; /* JSON array, seconds */
    const char *artifact;
    int64_t checked, varied; /* -1: not known */
};
typedef void
stored_contest_result_fn(void *arg, const struct stored_contest_result *result);
int stored_contest_results(struct store *store, int64_t pass, int64_t first,
                           int64_t end, stored_contest_result_fn *fn, void *arg,
                           struct err *err);

/* Its entries of which some result says that inputs or elements judged
 * nothing, of whatever purpose. */
int stored_contest_unjudged(struct store *store, int64_t pass,
                            void (*fn)(void *arg, int64_t entry), void *arg,
                            struct err *err);

/* What this external baseline printed in its rounds, by round: runs that ended
 * well, counted or the last of their kind. */
struct stored_contest_output {
    int64_t shape, round; /* shape: its position */
    const char *gpu, *output;
    double seconds; /* that it ran */
};
typedef void
stored_contest_output_fn(void *arg, const struct stored_contest_output *output);
int stored_contest_outputs(struct store *store, const char *name, int64_t pass,
                           int64_t first, int64_t end,
                           stored_contest_output_fn *fn, void *arg,
                           struct err *err);

#endif
