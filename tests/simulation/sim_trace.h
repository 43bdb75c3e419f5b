/* sim_trace.h - everything that happened, as records for the checker
 *
 * The seams and the world append records and never change one.  The checker
 * sees nothing of a run but its trace and its database.
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
    SIM_SCENE,     /* text: one host */
    SIM_BEGIN,     /* the coordinator starts; number: of its life */
    SIM_END,       /* it ended; number: exit code */
    SIM_CRASH,     /* it was killed */
    SIM_SENT,      /* by the coordinator; number 0: there was no link */
    SIM_TAKEN,     /* by the coordinator */
    SIM_SAID,      /* by a worker */
    SIM_HEARD,     /* by a worker */
    SIM_GONE,      /* a message was lost */
    SIM_NEWS,      /* number: enum host_threads_event */
    SIM_RECONNECT, /* the coordinator asks for a new connection */
    SIM_DISMISS,   /* the coordinator gives a host up */
    SIM_COMMIT,    /* number 1: durable, 0: refused */
    SIM_SLEEP,     /* the coordinator did not run; number: ns */
    SIM_WORKER,    /* text: what happened to a worker process */
    SIM_FAULT,     /* text: which fault began */
    SIM_HEAL,      /* text: which */
    SIM_RENT,      /* text: about a machine that is released */
    SIM_KINDS,
};

#define SIM_NOBODY (-1)

struct sim_record {
    int64_t at_ns;
    enum sim_kind kind;
    int host; /* or SIM_NOBODY */
    int type; /* enum msg_type of a message, else -1 */
    int64_t epoch, lease, number;
    int64_t limit_ms; /* of a lease; or how long a COMMIT took */
    int id;           /* of a message: config/shape/purpose/round/stage */
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
/* Adds one record for a message, and one more for each nonce of an ACK and each
 * identity of a HELLO. */
void sim_trace_msg(struct sim_trace *trace, enum sim_kind kind, int64_t at_ns,
                   int host, const struct msg *msg, int64_t number);
const char *sim_trace_text(const struct sim_trace *trace, int name);
/* The name of "config/shape/purpose/round/stage", without the attempt. */
int sim_trace_id(struct sim_trace *trace, const struct msg *msg);
void sim_trace_print(const struct sim_trace *trace, FILE *to);
/* The hash of all records; every run of a seed has the same one. */
void sim_trace_hash(const struct sim_trace *trace, char out[HASH_HEX]);
void sim_trace_fini(struct sim_trace *trace);

#endif
