/* build_listing.h - what the configurations of a space were compiled to
 *
 * For each unit of the plan the newest build from its very sources, tunables
 * and architecture that a database holds, with what its cubin uses and how
 * many blocks of it an SM of that architecture holds.
 * Thread rule: one thread.  The spec, the space and the facts outlive it.
 */
#ifndef FA_COORDINATOR_REPORT_BUILD_LISTING_H
#define FA_COORDINATOR_REPORT_BUILD_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/ptxas.h"
#include "coordinator/plan/plan.h"
#include "coordinator/space/occupancy.h"
#include "coordinator/space/space.h"
#include "coordinator/stats/dead_tunables.h"

struct err;
struct json_out;

/* What a cubin may be warned of.  The launch gate is the only one that
 * rejects: such a kernel cannot run, whatever it computes. */
enum build_listing_gate {
    BUILD_LISTING_LAUNCH,
    BUILD_LISTING_SPILLS,
    BUILD_LISTING_REGISTERS,
    BUILD_LISTING_OCCUPANCY,
    BUILD_LISTING_GATES,
};

struct build_row {
    const struct plan_unit *unit;
    bool known;       /* there is a build */
    bool built;       /* and it was one */
    char outcome[16]; /* built compile timeout crash */
    char *detail;     /* why not, "" when built */
    char artifact[HASH_HEX];
    double seconds; /* of the compiler; NaN when a worker had it in store */
    struct ptxas_use use;
    int64_t threads;      /* a block, on the first shape, as is */
    int64_t dynamic_smem; /* bytes a block */
    struct occupancy occupancy;
    unsigned hits; /* bit g: gate g of enum build_listing_gate */
};

struct build_listing {
    const struct spec *spec;
    struct space *space;
    const struct gpu_arch_facts *facts;
    struct plan *plan;
    struct build_row *rows; /* one a unit, in its order */
    size_t n;
    enum dead_tunables_verdict dead[SPEC_AXES_MAX];
    char toolkit[128]; /* of the newest build; "" without one */
};

/* 'arch' is what to look for: sm_89, cpu.  Without a database at 'db' nothing
 * is known.  ERR_STORE, or what plan_make() says. */
int build_listing_load(const struct spec *spec, struct space *space,
                       const struct gpu_arch_facts *facts, const char *arch,
                       const char *db, struct build_listing **out,
                       struct err *err);
void build_listing_free(struct build_listing *listing); /* NULL is fine */

size_t build_listing_failed(
    const struct build_listing *listing); /* known, and not built */
const char *build_listing_gate_name(enum build_listing_gate gate);
const char *
build_listing_gate_kind(enum build_listing_gate gate); /* reject warn */
const char *build_listing_gate_why(enum build_listing_gate gate);

/* build_listing_print.c: what it came to, and a line a configuration. */
void build_listing_summary(const struct build_listing *listing);
void build_listing_list(const struct build_listing *listing);
/* build_listing_json.c: both, as members of an open object. */
int build_listing_json(const struct build_listing *listing,
                       struct json_out *out, struct err *err);

#endif
