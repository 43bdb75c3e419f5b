/* sim_trace.h - all that happened, as records that a checker can read
 *
 * The seams and the world append; nothing is ever changed.  The checker knows
 * the run by this and by the database alone.
 */
#ifndef FA_TESTS_SIMULATION_SIM_TRACE_H
#define FA_TESTS_SIMULATION_SIM_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/hash.h"
#include "tests/simulation/sim_names.h"

struct msg;

enum sim_kind {
    SIM_SCENE,     /* text: a host of it */
    SIM_BEGIN,     /* the coordinator starts; number: its life, epoch */
    SIM_END,       /* it ended; number: exit code */
    SIM_CRASH,     /* it was killed */
    SIM_SENT,      /* by the coordinator; number 0 when there was no link */
    SIM_TAKEN,     /* by the coordinator */
    SIM_SAID,      /* by a worker */
    SIM_HEARD,     /* by a worker */
    SIM_GONE,      /* a message was lost */
    SIM_NEWS,      /* number: enum host_threads_event */
    SIM_RECONNECT, /* the coordinator asks for a new connection */
    SIM_DISMISS,   /* it gives a host up */
    SIM_COMMIT,    /* number 1: durable, 0: refused */
    SIM_SLEEP,     /* the coordinator did not run; number: ns */
    SIM_WORKER,    /* text: what became of a worker process */
    SIM_FAULT,     /* text: which */
    SIM_HEAL,      /* text: which */
    SIM_KINDS,
};

#define SIM_NOBODY (-1)

struct sim_record {
    int64_t at_ns;
    enum sim_kind kind;
    int host; /* or SIM_NOBODY */
    int type; /* enum msg_type of a message, else -1 */
    int64_t epoch, lease, number;
    int64_t limit_ms; /* of a lease; that a COMMIT took */
    int id;           /* config/shape/purpose/round/stage, of a message */
    int nonce;
    int text; /* GPU, hash, outcome or what happened */
    int gpu;
};

struct sim_trace {
    struct sim_record *records;
    size_t n, cap;
    struct sim_names names;
};

void sim_trace_add(struct sim_trace *trace, struct sim_record record);
/* A message: one record, and one more each for the nonces of an ACK and the
 * identities of a HELLO. */
void sim_trace_msg(struct sim_trace *trace, enum sim_kind kind, int64_t at_ns,
                   int host, const struct msg *msg, int64_t number);
const char *sim_trace_text(const struct sim_trace *trace, int name);
/* "config/shape/purpose/round/stage" as a name, the attempt left out. */
int sim_trace_id(struct sim_trace *trace, const struct msg *msg);
void sim_trace_print(const struct sim_trace *trace, FILE *to);
/* Of all records: two runs of one seed have the same. */
void sim_trace_hash(const struct sim_trace *trace, char out[HASH_HEX]);
void sim_trace_fini(struct sim_trace *trace);

#endif
