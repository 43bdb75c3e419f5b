/* store_held.h - rows of the ledger: prices and circumstances as they were
 *
 * Field by field the columns of schema/schema.sql, like those of store_rows.h,
 * whose rules hold here too.  Functions return 0 or ERR_STORE; thread rule:
 * that of the store.
 */
#ifndef FA_COORDINATOR_STORE_STORE_HELD_H
#define FA_COORDINATOR_STORE_STORE_HELD_H

#include <stdint.h>

struct err;
struct row_shape;
struct store;

struct store_held {
    const char *host;
    int64_t epoch, start_ns, end_ns, start_utc;
    double rate_usd_per_h; /* NaN: unpriced */
    const char *phase;     /* search proof confirm bench profile builds */
};

struct store_ready {
    const char *host, *gpu; /* its UUID; "" for the host itself */
    int64_t at_utc;
    const char *driver, *boot_id, *worker_version, *toolkit;
};

/* A time of a host, in the clock of a run. */
struct store_span {
    const char *host;
    int64_t epoch, from_ns, to_ns;
};

extern const struct row_shape store_rows_held, store_rows_ready;

/* A new row, or a longer one with the same host, epoch and start. */
int store_held_put(struct store *store, const struct store_held *row,
                   struct err *err);
/* The host was not held then: remove that time from its rows of 'held' and
 * 'interval'. */
int store_held_cut(struct store *store, const struct store_span *span,
                   struct err *err);
int store_ready_put(struct store *store, const struct store_ready *row,
                    struct err *err);

#endif
