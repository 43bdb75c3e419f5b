/* confirmation.h - who was compared with the baseline, in blocks, by which
 * rules
 *
 * A pass: a confirmation of a sweep's finalists, or a bench.  It is written
 * down before its first measurement, so that it can be continued, and so
 * that what it measured can be read for what it was.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_CONFIRM_CONFIRMATION_H
#define FA_COORDINATOR_CONFIRM_CONFIRMATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/confirm/verdict.h"

struct err;
struct store;

/* A round of the results tells pass and block. */
#define CONFIRMATION_ROUNDS 10000 /* rounds of a pass */
#define CONFIRMATION_PASSES_MAX 200000

enum confirmation_kind {
    CONFIRMATION_CONFIRM,
    CONFIRMATION_BENCH,
};

enum confirmation_role {
    CONFIRMATION_BASELINE,
    CONFIRMATION_FINALIST,
    CONFIRMATION_REJECTED, /* before it ran: wrong in the proof */
};

struct candidate {
    char key[HASH_HEX];
    char source_key[HASH_HEX];
    enum confirmation_role role;
    char *reason; /* why it is rejected, or out; "" while it is neither */
};

struct confirmation_shape {
    char *name;
    char measure_key[HASH_HEX];
};

struct confirmation {
    int64_t pass; /* 0: not written down */
    int64_t sweep;
    enum confirmation_kind kind;
    int64_t seed;
    int blocks, samples;
    struct verdict_rules rules;
    int64_t possible;
    double cut;         /* NAN: the cap left out none */
    double proof_hours; /* of the fuzz before it */
    double proof_usd;   /* NAN: unpriced */
    int64_t started_utc;
    bool ended, failed;

    struct candidate *candidates; /* the baseline, finalists, rejected */
    size_t n;
    size_t n_running; /* of them: not rejected */
    struct confirmation_shape *shapes;
    size_t n_shapes;
};

void confirmation_fini(struct confirmation *confirmation);
void confirmation_add(struct confirmation *confirmation, const char *key,
                      enum confirmation_role role, const char *reason);
int64_t confirmation_round(const struct confirmation *confirmation, int block);

/* What each candidate was built from in the sweep.  ERR_STORE */
int confirmation_sources(struct store *store, struct confirmation *confirmation,
                         struct err *err);

/* Write it down under the next pass, which is filled in.  ERR_STORE */
int confirmation_put(struct store *store, struct confirmation *confirmation,
                     struct err *err);
/* A candidate is out. */
int confirmation_put_out(struct store *store, struct confirmation *confirmation,
                         size_t at, const char *reason, struct err *err);
int confirmation_put_end(struct store *store, struct confirmation *confirmation,
                         bool failed, struct err *err);

/* The newest one of this kind of the sweep: 1, or 0 when there is none.  With
 * 'pass' not 0 that one. */
int confirmation_load(struct store *store, int64_t sweep,
                      enum confirmation_kind kind, int64_t pass,
                      struct confirmation *out, struct err *err);

/* What it measured: one candidate at one shape in one block. */
struct confirmation_result {
    size_t candidate, shape;
    int block;
    const char *gpu; /* UUID */
    const char *outcome, *detail;
    const char *samples; /* JSON array, seconds */
    int64_t registers, spill_bytes;
};

/* Every counted one, by block; its texts live for the call. */
typedef void confirmation_result_fn(void *arg,
                                    const struct confirmation_result *result);
int confirmation_results(struct store *store,
                         const struct confirmation *confirmation,
                         confirmation_result_fn *fn, void *arg,
                         struct err *err);

#endif
