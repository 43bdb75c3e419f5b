/* sim_leases.h - which leases are out, as the coordinator could know it
 *
 * Fed with the records of a trace, one by one.  A lease begins when it is
 * sent, and ends by a result of its identity (a crash: of its host), a refusal,
 * a CANCEL, the known death of its worker, a HELLO that does not name it, or
 * 30 s of silence.
 */
#ifndef FA_TESTS_SIMULATION_SIM_LEASES_H
#define FA_TESTS_SIMULATION_SIM_LEASES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/simulation/sim_scene.h"
#include "tests/simulation/sim_trace.h"

struct sim_lease {
    int64_t lease;
    int host, gpu, id; /* names of the trace; gpu 0 for a build */
    int type;
    int64_t since_ns; /* of the last word about its place */
    int64_t slow_ns;  /* that COMMITs took since then */
    int64_t limit_ns;
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

/* Record 'at' of the trace. */
void sim_leases_take(struct sim_leases *leases, size_t at);
/* The longest limit at the place of lease 'i': of several there one runs, and
 * nobody knows which. */
int64_t sim_leases_limit_ns(const struct sim_leases *leases, size_t i);
void sim_leases_fini(struct sim_leases *leases);

#endif
