/* past_runs.h - what earlier runs left in a database, for a run that continues
 *
 * Reads through the store's own connection, so it also sees what was put and
 * not yet committed.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_PAST_RUNS_H
#define FA_COORDINATOR_STORED_PAST_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/store/store_rows.h"

struct err;
struct past_runs;
struct store;

/* The store outlives it. */
int past_runs_open(struct store *store, struct past_runs **out,
                   struct err *err);
void past_runs_close(struct past_runs *past); /* NULL is fine */

/* The current sweep: 1 and its row, or 0 in an empty database.  Its texts
 * live until past_runs_close(). */
int past_runs_sweep(struct past_runs *past, struct store_sweep *out,
                    struct err *err);

/* What the newest sweep or resume was told, whether or not it came to a sweep:
 * 1, or 0 where none was (fuzz), or before this was written down.  Its texts
 * live likewise. */
int past_runs_request(struct past_runs *past, struct store_request *out,
                      struct err *err);

/* "sm_89": the architecture whose facts the rules of a sweep saw. */
#define PAST_RUNS_ARCH_BYTES 32
int past_runs_arch(struct past_runs *past, const struct store_sweep *sweep,
                   char out[PAST_RUNS_ARCH_BYTES], struct err *err);

/* Is it of configurations and shapes that were asked for besides the sweep? */
bool past_runs_asked(const struct store_sweep *sweep);

struct past_runs_outcome {
    char outcome[16];
    char reason[256];              /* may be cut */
    double median_s;               /* NaN without a time */
    double relative_l2, max_error; /* of its result; NaN without one */
    int64_t checked, varied;       /* likewise, as stored; -1: not known */
    bool agreed;                   /* its samples with each other */
    int64_t attempts;
};

/* What this configuration came to for this shape with these very sources and
 * this way of measuring: 1, or 0 when it is not settled. */
int past_runs_outcome(struct past_runs *past, const struct store_outcome *key,
                      struct past_runs_outcome *out, struct err *err);

/* All that was settled, in no order. */
struct past_runs_settled {
    const char *config, *shape, *source_key, *measure_key; /* for the call */
    const char *outcome;
    double median_s; /* NaN without a time */
    bool measured;   /* a result or build settled it */
};
typedef void past_runs_settled_fn(void *arg, const struct past_runs_settled *);
int past_runs_settled(struct past_runs *past, past_runs_settled_fn *fn,
                      void *arg, struct err *err);

struct past_runs_build {
    char artifact[HASH_HEX];
    char build_key[HASH_HEX];
    char host[256]; /* where the artifact was built */
    int64_t registers, spill_bytes, static_smem;
    int64_t row; /* its rowid */
};

/* The newest successful build of a configuration (of a reference: its source
 * key twice) from these sources: 1, or 0 if there was no such build.  ERR_STORE
 * also if its row is not as it was written. */
int past_runs_build(struct past_runs *past, const char *config,
                    const char *source_key, struct past_runs_build *out,
                    struct err *err);
/* 1 if the host ever built something, otherwise 0. */
int past_runs_built_on(struct past_runs *, const char *host, struct err *err);

/* Work of which 'losses' leases were lost since the sweep last changed. */
struct past_runs_loss {
    const char *config, *shape, *stage; /* for the call */
    int64_t losses;
};
typedef void past_runs_loss_fn(void *arg, const struct past_runs_loss *loss);
int past_runs_losses(struct past_runs *past, past_runs_loss_fn *fn, void *arg,
                     struct err *err);

/* Leases of runs before 'epoch' that never ended: the coordinator was killed.
 * They are read first, so 'fn' may end them with store_lease_end(). */
typedef void past_runs_lease_fn(void *arg, const struct store_lease *lease);
int past_runs_open_leases(struct past_runs *past, int64_t epoch,
                          past_runs_lease_fn *fn, void *arg, struct err *err);
/* Those that were lost or cancelled: a worker that was out of reach may be at
 * one still.  Each once, without epoch, id, attempt, GPU and time. */
int past_runs_left_leases(struct past_runs *past, int64_t epoch,
                          past_runs_lease_fn *fn, void *arg, struct err *err);

/* What a search of this sweep asked for and was told, in order. */
typedef void past_runs_step_fn(void *arg, const struct store_step *step);
int past_runs_steps(struct past_runs *past, int64_t sweep,
                    past_runs_step_fn *fn, void *arg, struct err *err);

/* The configurations that were ever asked for. */
struct past_runs_config {
    const char *key, *source_key, *params, *warnings; /* for the call */
    int64_t sweep, point; /* the newest that asked, and its number there */
    bool baseline;
};
typedef void past_runs_config_fn(void *arg, const struct past_runs_config *);
int past_runs_configs(struct past_runs *past, past_runs_config_fn *fn,
                      void *arg, struct err *err);

#endif
