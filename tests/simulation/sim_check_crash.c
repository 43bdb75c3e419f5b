/* F3, from the trace alone: a build or a screening that crashes is tried again,
 * a few times. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/state/host_state.h"
#include "coordinator/state/sweep_options.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_world.h"

/* Another lease may be open beside that of the last try, and crash as well. */
#define CRASHES_MAX (SWEEP_ATTEMPTS + 1)

struct crashes {
    int *of_id;           /* of this life, by name */
    unsigned char *lease; /* by number: it has crashed */
    size_t n_ids, n_leases;
};

static void forget(struct crashes *c)
{
    memset(c->of_id, 0, c->n_ids * sizeof(*c->of_id));
    memset(c->lease, 0, c->n_leases);
}

static size_t count_leases(const struct sim_trace *trace)
{
    int64_t most = 0;

    for (size_t i = 0; i < trace->n; i++)
        if (trace->records[i].kind == SIM_SENT &&
            trace->records[i].lease > most)
            most = trace->records[i].lease;
    return (size_t)most + 1;
}

/* A result of this life, for a lease that has not crashed before. */
static bool is_crash(const struct crashes *c, const struct sim_trace *trace,
                     const struct sim_record *r, int64_t epoch)
{
    const char *id = sim_trace_text(trace, r->id);

    return r->kind == SIM_TAKEN && r->epoch == epoch &&
           (r->type == MSG_BUILT ||
            (r->type == MSG_MEASURED && strstr(id, "/screen/0/"))) &&
           outcome_is(sim_trace_text(trace, r->text), OUTCOME_CRASH) &&
           r->lease > 0 && (size_t)r->lease < c->n_leases &&
           !c->lease[r->lease];
}

/* The crashes that a host may report of work that goes back to the queue,
 * because the result is refused for another reason. */
static int refused_of(const struct sim_trace *trace)
{
    int liars = 0;

    for (size_t i = 0; i < trace->n; i++)
        liars += trace->records[i].kind == SIM_SCENE &&
                 strstr(sim_trace_text(trace, trace->records[i].text), " lies");
    return liars * (LIES_MAX - 1);
}

void sim_check_crashes(struct sim_run *run)
{
    const struct sim_trace *trace = &run->world->trace;
    struct crashes c = { .n_ids = trace->names.n + 1,
                         .n_leases = count_leases(trace) };
    int most = CRASHES_MAX + refused_of(trace);
    int64_t epoch = 0;

    c.of_id = mem_new(c.n_ids, sizeof(*c.of_id));
    c.lease = mem_new(c.n_leases, 1);
    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];

        if (r->kind == SIM_BEGIN) {
            epoch = r->epoch;
            forget(&c);
        }
        if (!is_crash(&c, trace, r, epoch))
            continue;
        c.lease[r->lease] = 1;
        if (++c.of_id[r->id] == most + 1)
            sim_run_finds(run, "F3", "%s crashes more than %d times",
                          sim_trace_text(trace, r->id), most);
    }
    free(c.of_id);
    free(c.lease);
}
