/* store_contest.h - confirmations and benches, as rows of the database
 *
 * Field by field the columns of schema.sql, as in store_rows.h.  Thread rule
 * and errors: store.h.
 */
#ifndef FA_COORDINATOR_STORE_STORE_CONTEST_H
#define FA_COORDINATOR_STORE_STORE_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct row_shape;
struct store;

struct store_contest {
    int64_t pass, sweep;
    const char *kind;
    int64_t seed, blocks, samples;
    double alpha, floor, target;
    const char *against; /* NULL: the baseline; read as "" */
    int64_t possible;
    double cut, proof_hours, proof_usd; /* NaN: no cut, no price */
    int64_t started_utc;
    bool ended;         /* when it is read, as is */
    const char *ending; /* done failed; "" while it runs */
    int64_t look_blocks, most_blocks, look_over_all; /* 0: none */
};

struct store_contestant {
    int64_t pass, position;
    const char *config, *source_key, *role, *reason;
    int64_t proof_launches, proof_varied; /* -1: not known, NULL */
};

struct store_contest_shape {
    int64_t pass, position;
    const char *shape, *measure_key;
};

extern const struct row_shape store_rows_contest, store_rows_contestant,
    store_rows_contest_shape;

/* A confirmation or a bench (confirmation.h); a second put changes a row. */
int store_contest_put(struct store *store, const struct store_contest *row,
                      struct err *err);
int store_contest_end(struct store *store, int64_t pass, const char *ending,
                      int64_t ended_utc, struct err *err);
int store_contestant_put(struct store *store,
                         const struct store_contestant *row, struct err *err);
int store_contest_shape_put(struct store *store,
                            const struct store_contest_shape *row,
                            struct err *err);

#endif
