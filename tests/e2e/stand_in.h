/* stand_in.h - the parts of stand_in_worker.c, and its hostile behaviours
 */
#ifndef FA_TESTS_E2E_STAND_IN_H
#define FA_TESTS_E2E_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/hash.h"
#include "common/msg.h"

#define STAND_IN_MESSAGES_MAX 400000
#define STAND_IN_CLAIMS_MAX 4096

struct stand_in;

struct behaviour {
    const char *name;
    /* its reaction to a lease and to a FETCH, or NULL */
    void (*lease)(struct stand_in *s, const struct msg *msg);
    void (*fetch)(struct stand_in *s, const struct msg *msg);
    void (*turn)(struct stand_in *s); /* called all the time; or NULL */
};

/* The lease that a behaviour goes on about. */
struct stand_in_lease {
    enum msg_type type; /* MSG_TYPES: none yet */
    int64_t lease, attempt, round;
    char config[HASH_HEX], purpose[16], key[HASH_HEX];
    char hash[HASH_HEX]; /* of its bundle, or of the artifact to be sent */
};

struct stand_in {
    const struct behaviour *does;
    const char *dir; /* the work folder */
    bool is_cuda;    /* the sweep is for GPUs, else it emulates them */
    int64_t seconds, slots, credit, protocol, measure_us;
    const char *claims[STAND_IN_CLAIMS_MAX];
    size_t n_claims;
    struct stand_in_lease about;

    FILE *heard;
    struct control *control;
    void *zctx;
    struct link *link; /* NULL until invited */
    bool welcomed, over;
    int64_t hello_ns, beat_ns, beat_every_ns;
    int said;
};

void stand_in_say(struct stand_in *s, struct msg *msg);
void stand_in_nonce(char out[HASH_HEX]);
/* Say STARTED, and no more. */
void stand_in_start(struct stand_in *s, const struct msg *msg);
/* Pretend that a build was made; refuse other leases. */
void stand_in_build(struct stand_in *s, const struct msg *msg);
/* HELLO, again. */
void stand_in_hello(struct stand_in *s, int64_t now_ns);

/* What attacks the coordinator (hostile.c); NULL: unknown. */
const struct behaviour *hostile_behaviour(const char *name);

#endif
