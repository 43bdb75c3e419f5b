/* I1, from the trace alone: a result is acknowledged only after a COMMIT that
 * followed its arrival in the same life of the coordinator. */
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_world.h"

enum state {
    UNKNOWN,
    TAKEN, /* it came after the last COMMIT */
    COMMITTED,
};

static void change_all(unsigned char *states, size_t n, enum state from,
                       enum state to)
{
    for (size_t i = 0; i < n; i++)
        if (states[i] == from)
            states[i] = (unsigned char)to;
}

void sim_check_delivery(struct sim_run *run)
{
    const struct sim_trace *trace = &run->world->trace;
    size_t n = trace->names.n;
    unsigned char *states = mem_new(n + 1, 1);

    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];
        bool result = r->nonce && r->type != MSG_ACK;

        if (r->kind == SIM_TAKEN && result && states[r->nonce] == UNKNOWN)
            states[r->nonce] = TAKEN;
        if (r->kind == SIM_COMMIT && r->number)
            change_all(states, n, TAKEN, COMMITTED);
        if (r->kind == SIM_BEGIN)
            change_all(states, n, TAKEN, UNKNOWN);
        if (r->kind == SIM_SENT && r->type == MSG_ACK && r->nonce &&
            states[r->nonce] != COMMITTED)
            sim_run_finds(run, "I1",
                          "%.8s is acknowledged before its COMMIT "
                          "at %.4f s",
                          sim_trace_text(trace, r->nonce),
                          (double)r->at_ns / (double)NS_PER_S);
    }
    free(states);
}
