/* store.h - the one writer of a sweep's database (schema/)
 *
 * Rows are put one by one and become durable together: the first put opens a
 * transaction, store_commit() ends it.  What is acknowledged to a worker, and
 * only that, has been committed.  After an error nothing more is written (the
 * same error comes back) until store_rollback() has dropped what was put
 * since the last commit; commits made before stand.
 *
 * A put borrows its row for the call.  A text that is NULL is stored as ''.
 * What writes returns 0 or ERR_STORE, unless it says otherwise.  One thread. */
#ifndef FA_COORDINATOR_STORE_STORE_H
#define FA_COORDINATOR_STORE_STORE_H

#include <stdint.h>

#include "common/hash.h"
#include "coordinator/store/store_rows.h"

struct err;
struct sqlite3;
struct store;

enum store_mode {
    STORE_READ,    /* must exist; takes no lock, changes and checks nothing */
    STORE_DAMAGED, /* likewise, also where parts cannot be read (dbfile.h) */
    STORE_WHOLE,   /* likewise, and every row is as it was written (whole.h) */
    STORE_WRITE,   /* must exist; locked for this process */
    STORE_CREATE,  /* likewise, made when it is missing or empty */
};

/* Open the database at 'path'.  ERR_STORE says what is wrong with it: another
 * program's, another format, corrupt, read-only, on a network file system, or
 * in use, and by whom. */
int store_open(const char *path, enum store_mode mode, struct store **out,
               struct err *err);
void store_close(struct store *store); /* drops what is not committed */
const char *store_path(const struct store *store);
/* The tables of a STORE_DAMAGED of which rows could not be brought to the
 * newest format: " NAME " of each. */
const char *store_lost(const struct store *store);
struct sqlite3 *store_db(struct store *store); /* for queries, sql.h */

int store_begin(struct store *store, struct err *err); /* may be called again */
/* ERR_STORE also if the file is not there any more, or is another process's. */
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);
/* Count rows that were written without store_...() (tally.h), to commit. */
int store_count(struct store *store, struct err *err);
int store_pending(const struct store *store); /* rows since the last commit */
int64_t store_repeats(const struct store *store); /* results that came again */

/* The epoch of a run that starts at 'now_utc': later than all earlier ones,
 * even if the clock was set back since.  It dates the sweeps of the run. */
int store_next_epoch(struct store *store, int64_t now_utc, int64_t *out,
                     struct err *err);
/* The secret by which workers know their owner (owner.h): 32 hex digits. */
int store_owner(struct store *store, char out[HASH_HEX], struct err *err);

int store_run_start(struct store *store, const struct store_run *run,
                    struct err *err);
int store_run_end(struct store *store, int64_t epoch, const char *ending,
                  int64_t ended_utc, struct err *err);

/* Store what this run was told; it replaces that of the run before. */
int store_request_put(struct store *store, const struct store_request *request,
                      struct err *err);

/* Make this the current sweep.  '*id' is its row: an existing one if the key is
 * known. */
int store_sweep_put(struct store *store, const struct store_sweep *sweep,
                    int64_t *id, struct err *err);
int store_gate_put(struct store *store, const struct store_gate *gate,
                   struct err *err);
int store_shape_put(struct store *store, const struct store_shape *shape,
                    struct err *err);
int store_config_put(struct store *store, const struct store_config *config,
                     struct err *err);
int store_step_put(struct store *store, const struct store_step *step,
                   struct err *err);
int store_steps_drop(struct store *store, int64_t sweep, struct err *err);
int store_host_put(struct store *store, const struct store_host *host,
                   struct err *err);
int store_gpu_put(struct store *store, const struct store_gpu *gpu,
                  struct err *err);

int store_lease_put(struct store *store, const struct store_lease *lease,
                    struct err *err);
/* 'ending' is done, lost, refused or cancelled; a lease ends once. */
int store_lease_end(struct store *store, int64_t epoch, int64_t id,
                    const char *ending, int64_t ended_utc, struct err *err);

/* A result is kept once (its nonce) and counted once (its identity).  1: it is
 * stored and counts.  2: it is kept as evidence only, because its identity is
 * counted already or 'evidence' is set.  0: it was stored before. */
int store_build_put(struct store *store, const struct store_build *build,
                    struct err *err);
int store_result_put(struct store *store, const struct store_result *result,
                     struct err *err);
int store_tool_put(struct store *store, const struct store_tool *tool,
                   struct err *err);

/* Settle a configuration for a shape.  1: it is settled so now.  0: it was
 * settled before.  A better outcome replaces only lost, crash and outcomes
 * without a result, and a result of a later round replaces an earlier one. */
int store_outcome_put(struct store *store, const struct store_outcome *outcome,
                      struct err *err);

/* A new interval, or a longer one with the same host, epoch and start. */
int store_interval_put(struct store *store,
                       const struct store_interval *interval, struct err *err);
int store_event(struct store *store, const struct store_event *event,
                struct err *err);

#endif
