/* sim_leases.h - the open leases, as far as the coordinator can know them
 *
 * The caller feeds the records of a trace, one by one.  A lease begins when it
 * is sent.  It ends with a result of its identity (a crash must be of its
 * host), a refusal, a CANCEL, the known death of its worker, a HELLO that does
 * not name it, or 30 s of silence; also by a silence that ended before the next
 * message was sent, if the same work is then leased again.
 */
#ifndef FA_TESTS_SIMULATION_SIM_LEASES_H
#define FA_TESTS_SIMULATION_SIM_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/simulation/sim_scene.h"
#include "tests/simulation/sim_trace.h"

struct sim_lease {
    int64_t lease;
    int host, gpu, id; /* names of the trace; gpu 0 for a build */
    int type;
    int64_t since_ns; /* when its GPU or slot last began or ended work */
    int64_t slow_ns;  /* time that COMMITs took since then */
    int64_t limit_ns;
    bool doubted; /* it may have ended by a silence */
};

struct sim_leases {
    const struct sim_trace *trace;
    struct sim_lease *out;
    size_t n;
    int64_t heard_ns[SIM_HOSTS_MAX];
    int64_t pid[SIM_HOSTS_MAX];
    int boot[SIM_HOSTS_MAX];
    int64_t epoch;
};

/* Takes record 'at' of the trace. */
void sim_leases_take(struct sim_leases *leases, size_t at);
/* The longest limit of the leases on the GPU or in the slots of lease 'i': one
 * of them runs, and the trace does not say which. */
int64_t sim_leases_limit_ns(const struct sim_leases *leases, size_t i);
void sim_leases_fini(struct sim_leases *leases);

#endif
