/* I4 and I8, from the trace alone: a GPU is leased on one host only, and within
 * its credit; a lease ends by its deadline. */
#include "common/clock.h"
#include "common/msg.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_leases.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

/* The deadline is the limit plus 30 s (F23).  Another 30 s are for messages on
 * their way.  Time that the disk was slow does not count. */
#define OVERDUE_NS (60 * NS_PER_S)

/* The lease that has just begun is the last one. */
static void check_gpu(struct sim_run *run, const struct sim_leases *l,
                      int64_t now)
{
    const struct sim_lease *last = &l->out[l->n - 1];
    int same = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct sim_lease *other = &l->out[i];

        if (other->gpu != last->gpu)
            continue;
        same++;
        if (other->host != last->host)
            sim_run_finds(run, "I4", "%s is leased to hosts %d and %d",
                          sim_trace_text(l->trace, last->gpu), other->host,
                          last->host);
    }
    if (same > SIM_MEASURE_CREDIT)
        sim_run_finds(run, "I4", "%d leases of %s at %.3f s", same,
                      sim_trace_text(l->trace, last->gpu),
                      (double)now / (double)NS_PER_S);
}

static bool find_overdue(struct sim_run *run, const struct sim_leases *l,
                         int64_t now)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct sim_lease *out = &l->out[i];
        int64_t limit_ns = sim_leases_limit_ns(l, i);

        if (now - out->since_ns <= limit_ns + OVERDUE_NS + out->slow_ns)
            continue;
        sim_run_finds(run, "I8",
                      "lease %lld of host %d is out since %.1f s, its limit "
                      "is %lld s, the disk was slow for %.1f s, and the "
                      "host speaks",
                      (long long)out->lease, out->host,
                      (double)out->since_ns / (double)NS_PER_S,
                      (long long)(limit_ns / NS_PER_S),
                      (double)out->slow_ns / (double)NS_PER_S);
        return true;
    }
    return false;
}

void sim_check_leases(struct sim_run *run)
{
    const struct sim_trace *trace = &run->world->trace;
    struct sim_leases l = { .trace = trace };
    bool told = false;

    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];
        bool is_sent = r->kind == SIM_SENT, had_link = r->number != 0;

        sim_leases_take(&l, i);
        if (is_sent && had_link &&
            (r->type == MSG_MEASURE || r->type == MSG_TOOL))
            check_gpu(run, &l, r->at_ns);
        if (is_sent && !told)
            told = find_overdue(run, &l, r->at_ns);
    }
    sim_leases_fini(&l);
}
