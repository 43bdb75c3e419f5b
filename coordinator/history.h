/* history.h - what earlier runs left in a database, for a run that goes on
 *
 * Reads through the store's own connection, so it also sees what was put and
 * not yet committed.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_HISTORY_H
#define FA_COORDINATOR_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/store_rows.h"

struct err;
struct history;
struct store;

/* The store outlives it. */
int history_open(struct store *store, struct history **out, struct err *err);
void history_close(struct history *history); /* NULL is fine */

/* The current sweep: 1 and its row, or 0 in an empty database.  Its texts
 * live until history_close(). */
int history_sweep(struct history *history, struct store_sweep *out,
                  int64_t *id_out, struct err *err);

/* "sm_89": the architecture whose facts the rules of a sweep saw. */
#define HISTORY_ARCH_BYTES 32
int history_arch(struct history *history, const struct store_sweep *sweep,
                 char out[HISTORY_ARCH_BYTES], struct err *err);

/* Is it of configurations and shapes that were asked for besides the sweep? */
bool history_asked(const struct store_sweep *sweep);

struct history_outcome {
    char outcome[16];
    char reason[256];              /* may be cut */
    double median_s;               /* NaN when there is none */
    double relative_l2, max_error; /* of its result; NaN without one */
    bool agreed;                   /* its samples with each other */
    int64_t attempts;
};

/* What this configuration came to for this shape with these very sources and
 * this way of measuring: 1, or 0 when it is not settled. */
int history_outcome(struct history *history, const struct store_outcome *key,
                    struct history_outcome *out, struct err *err);

/* All that was settled, in no order. */
struct history_settled {
    const char *config, *shape, *source_key, *measure_key; /* for the call */
    const char *outcome;
    double median_s; /* NaN when there is none */
    bool measured;   /* a result or build settled it */
};
typedef void history_settled_fn(void *arg,
                                const struct history_settled *settled);
int history_settled(struct history *history, history_settled_fn *fn, void *arg,
                    struct err *err);

struct history_build {
    char artifact[HASH_HEX];
    char build_key[HASH_HEX];
    char host[256]; /* where the artifact was built */
    int64_t registers, spill_bytes, static_smem;
};

/* The newest successful build of a configuration (of a reference: its source
 * key twice) from these sources: 1, or 0 when there is none. */
int history_build(struct history *history, const char *config,
                  const char *source_key, struct history_build *out,
                  struct err *err);

/* Work of which 'losses' leases were lost since the sweep last changed. */
struct history_loss {
    const char *config, *shape, *stage; /* for the call */
    int64_t losses;
};
typedef void history_loss_fn(void *arg, const struct history_loss *loss);
int history_losses(struct history *history, history_loss_fn *fn, void *arg,
                   struct err *err);

/* Leases of runs before 'epoch' that never ended: the coordinator was killed.
 * They are read first, so 'fn' may end them with store_lease_end(). */
typedef void history_lease_fn(void *arg, const struct store_lease *lease);
int history_open_leases(struct history *history, int64_t epoch,
                        history_lease_fn *fn, void *arg, struct err *err);

/* What a search of this sweep asked for and was told, in order. */
typedef void history_step_fn(void *arg, const struct store_step *step);
int history_steps(struct history *history, int64_t sweep, history_step_fn *fn,
                  void *arg, struct err *err);

/* The configurations that were ever asked for. */
struct history_config {
    const char *key, *source_key, *params, *warnings; /* for the call */
    int64_t sweep, point; /* the newest that asked, and its number there */
    bool baseline;
};
typedef void history_config_fn(void *arg, const struct history_config *config);
int history_configs(struct history *history, history_config_fn *fn, void *arg,
                    struct err *err);

#endif
