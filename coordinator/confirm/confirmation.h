/* confirmation.h - the candidates of a confirmation pass, and its rules
 *
 * A pass is a confirmation of a sweep's finalists, or a bench.  It is stored
 * before its first measurement, so that it can be resumed and interpreted.
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

/* The round of a result encodes pass and block. */
#define CONFIRMATION_ROUNDS 10000 /* rounds of a pass */
#define CONFIRMATION_PASSES_MAX 200000

enum confirmation_kind {
    CONFIRMATION_CONFIRM,
    CONFIRMATION_BENCH,
};

enum confirmation_role {
    CONFIRMATION_BASELINE,
    CONFIRMATION_FINALIST,
    CONFIRMATION_REJECTED, /* before it ran: the proof found it wrong */
};

struct candidate {
    char key[HASH_HEX];
    char source_key[HASH_HEX];
    enum confirmation_role role;
    char *reason; /* why it was rejected or is out; "" otherwise */
    int64_t proof_launches, proof_varied; /* found right; -1: not known */
};

struct confirmation_shape {
    char *name;
    char measure_key[HASH_HEX];
};

struct confirmation {
    int64_t pass; /* 0: not stored yet */
    int64_t sweep;
    enum confirmation_kind kind;
    int64_t seed;
    int blocks, samples; /* blocks: wanted, if there are no looks */
    struct confirmation_looks {
        int group, most; /* blocks, as in sequential.h; group 0: no looks */
        bool over_all;   /* the objective is the mean of all shapes */
    } looks;
    struct verdict_rules rules;
    char *against; /* external baseline of the target; NULL: the baseline */
    int64_t possible;
    double cut; /* NAN: the cap left out nobody */
    struct confirmation_proof {
        double hours, usd; /* of the fuzz proof before it; NAN: no price */
    } proof;
    int64_t started_utc;
    bool ended, failed;

    struct candidate *candidates; /* the baseline, finalists, rejected ones */
    size_t n;
    size_t n_running; /* how many of them are not rejected */
    struct confirmation_shape *shapes;
    size_t n_shapes;
};

void confirmation_fini(struct confirmation *confirmation);
void confirmation_add(struct confirmation *confirmation, const char *key,
                      enum confirmation_role role, const char *reason);
int confirmation_blocks_max(const struct confirmation *confirmation);
int64_t confirmation_round(const struct confirmation *confirmation, int block);

/* The source key of each candidate in the sweep.  ERR_STORE */
int confirmation_sources(struct store *store, struct confirmation *confirmation,
                         struct err *err);

/* Store it under the next pass number, which is filled in.  ERR_STORE */
int confirmation_put(struct store *store, struct confirmation *confirmation,
                     struct err *err);
/* Store that a candidate is out. */
int confirmation_put_out(struct store *store, struct confirmation *confirmation,
                         size_t at, const char *reason, struct err *err);
int confirmation_put_end(struct store *store, struct confirmation *confirmation,
                         bool failed, struct err *err);

/* Load the newest pass of this kind of the sweep, or, if 'pass' is not 0, that
 * pass.  Returns 1, or 0 if it does not exist. */
int confirmation_load(struct store *store, int64_t sweep,
                      enum confirmation_kind kind, int64_t pass,
                      struct confirmation *out, struct err *err);

/* One measurement of the pass: a candidate at a shape in a block. */
struct confirmation_result {
    size_t candidate, shape;
    int block;
    const char *gpu; /* UUID */
    const char *outcome, *detail;
    const char *samples;     /* JSON array, seconds */
    const char *artifact;    /* that was measured */
    int64_t checked, varied; /* launches that were found right, and whether
                              * they differ in bits; -1: not known */
};

/* Visit every counted measurement, by block.  Texts last for the call. */
typedef void confirmation_result_fn(void *arg,
                                    const struct confirmation_result *result);
int confirmation_results(struct store *store,
                         const struct confirmation *confirmation,
                         confirmation_result_fn *fn, void *arg,
                         struct err *err);

#endif
