/* contest.h - who was compared with the baseline, in blocks, by which rules
 *
 * A pass: a confirmation of a sweep's finalists, or a bench.  It is written
 * down before its first measurement, so that it can be gone on with, and so
 * that what it measured can be read for what it was.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_CONTEST_H
#define FA_COORDINATOR_CONTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/verdict.h"

struct err;
struct store;

/* A round of the results tells pass and block. */
#define CONTEST_ROUNDS 10000 /* rounds of a pass */
#define CONTEST_PASSES_MAX 200000

enum contest_kind {
    CONTEST_CONFIRM,
    CONTEST_BENCH,
};

enum contest_role {
    CONTEST_BASELINE,
    CONTEST_FINALIST,
    CONTEST_REJECTED, /* before it ran: wrong in the proof */
};

struct contestant {
    char key[HASH_HEX];
    char source_key[HASH_HEX];
    enum contest_role role;
    char *reason; /* why it is rejected, or out; "" while it is neither */
};

struct contest_shape {
    char *name;
    char measure_key[HASH_HEX];
};

struct contest {
    int64_t pass; /* 0: not written down */
    int64_t sweep;
    enum contest_kind kind;
    int64_t seed;
    int blocks, samples;
    struct verdict_rules rules;
    int64_t possible;
    double cut;         /* NAN: the cap left out none */
    double proof_hours; /* of the fuzz before it */
    double proof_usd;   /* NAN: unpriced */
    int64_t started_utc;
    bool ended, failed;

    struct contestant *contestants; /* the baseline, finalists, rejected */
    size_t n;
    size_t n_running; /* of them: not rejected */
    struct contest_shape *shapes;
    size_t n_shapes;
};

void contest_fini(struct contest *contest);
void contest_add(struct contest *contest, const char *key,
                 enum contest_role role, const char *reason);
int64_t contest_round(const struct contest *contest, int block);

/* What each contestant was built from in the sweep.  ERR_STORE */
int contest_sources(struct store *store, struct contest *contest,
                    struct err *err);

/* Write it down under the next pass, which is filled in.  ERR_STORE */
int contest_put(struct store *store, struct contest *contest, struct err *err);
/* A contestant is out. */
int contest_put_out(struct store *store, struct contest *contest, size_t at,
                    const char *reason, struct err *err);
int contest_put_end(struct store *store, struct contest *contest, bool failed,
                    struct err *err);

/* The newest one of this kind of the sweep: 1, or 0 when there is none.  With
 * 'pass' not 0 that one. */
int contest_load(struct store *store, int64_t sweep, enum contest_kind kind,
                 int64_t pass, struct contest *out, struct err *err);

/* What it measured: one contestant at one shape in one block. */
struct contest_result {
    size_t contestant, shape;
    int block;
    const char *gpu; /* UUID */
    const char *outcome, *detail;
    const char *samples; /* JSON array, seconds */
    int64_t registers, spill_bytes;
};

/* Every counted one, by block; its texts live for the call. */
typedef void contest_result_fn(void *arg, const struct contest_result *result);
int contest_results(struct store *store, const struct contest *contest,
                    contest_result_fn *fn, void *arg, struct err *err);

#endif
