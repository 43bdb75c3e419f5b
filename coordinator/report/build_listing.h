/* build_listing.h - the builds of a space's configurations
 *
 * For each unit of the plan it has the newest build in a database with the same
 * sources, tunables and architecture.  It shows what the cubin uses, and how
 * many of its blocks fit on an SM of that architecture.
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

/* Checks of a cubin.  Only the launch gate rejects: such a kernel cannot
 * run. */
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
    bool built;       /* and it succeeded */
    char outcome[16]; /* built compile timeout crash */
    char *detail;     /* why not, "" if built */
    char artifact[HASH_HEX];
    double seconds; /* of the compiler; NaN if it came from a worker's cache */
    struct ptxas_use use;
    int64_t threads;      /* per block, on the first shape */
    int64_t dynamic_smem; /* bytes per block, on the first shape */
    struct occupancy occupancy;
    unsigned hits; /* bit g: gate g of enum build_listing_gate */
};

struct build_listing {
    const struct spec *spec;
    struct space *space;
    const struct gpu_arch_facts *facts;
    struct plan *plan;
    struct build_row *rows; /* one for each unit, in order */
    size_t n;
    enum dead_tunables_verdict dead[SPEC_AXES_MAX];
    char toolkit[128]; /* of the newest build; "" without builds */
};

/* 'arch' is the architecture: sm_89, cpu.  If there is no database at 'db', no
 * build is known.  ERR_STORE, or the errors of plan_make(). */
int build_listing_load(const struct spec *spec, struct space *space,
                       const struct gpu_arch_facts *facts, const char *arch,
                       const char *db, struct build_listing **out,
                       struct err *err);
void build_listing_free(struct build_listing *listing); /* NULL is fine */

size_t build_listing_failed(
    const struct build_listing *listing); /* known, but not built */
const char *build_listing_gate_name(enum build_listing_gate gate);
const char *
build_listing_gate_kind(enum build_listing_gate gate); /* reject warn */
const char *build_listing_gate_why(enum build_listing_gate gate);

/* build_listing_print.c: the summary, and a line for each configuration. */
void build_listing_summary(const struct build_listing *listing);
void build_listing_list(const struct build_listing *listing);
/* build_listing_json.c: both, as members of an open object. */
int build_listing_json(const struct build_listing *listing,
                       struct json_out *out, struct err *err);

#endif
