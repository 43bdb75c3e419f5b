/* builds.h - what the configurations of a space were compiled to
 *
 * For each unit of the plan the newest build from its very sources, tunables
 * and architecture that a database holds, with what its cubin uses and how
 * many blocks of it an SM of that architecture holds.
 * Thread rule: one thread.  The spec, the space and the facts outlive it.
 */
#ifndef FA_COORDINATOR_BUILDS_H
#define FA_COORDINATOR_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/ptxas.h"
#include "coordinator/dead.h"
#include "coordinator/occupancy.h"
#include "coordinator/plan.h"
#include "coordinator/space.h"

struct err;
struct json_out;

/* What a cubin may be warned of.  The launch gate is the only one that
 * rejects: such a kernel cannot run, whatever it computes. */
enum builds_gate {
    BUILDS_LAUNCH,
    BUILDS_SPILLS,
    BUILDS_REGISTERS,
    BUILDS_OCCUPANCY,
    BUILDS_GATES,
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
    unsigned hits; /* bit g: gate g of enum builds_gate */
};

struct builds {
    const struct spec *spec;
    struct space *space;
    const struct arch_facts *facts;
    struct plan *plan;
    struct build_row *rows; /* one a unit, in its order */
    size_t n;
    enum dead_verdict dead[SPEC_AXES_MAX];
    char toolkit[128]; /* of the newest build; "" without one */
};

/* 'arch' is what to look for: sm_89, cpu.  Without a database at 'db' nothing
 * is known.  ERR_STORE, or what plan_make() says. */
int builds_load(const struct spec *spec, struct space *space,
                const struct arch_facts *facts, const char *arch,
                const char *db, struct builds **out, struct err *err);
void builds_free(struct builds *builds); /* NULL is fine */

size_t builds_failed(const struct builds *builds); /* known, and not built */
const char *builds_gate_name(enum builds_gate gate);
const char *builds_gate_kind(enum builds_gate gate); /* reject warn */
const char *builds_gate_why(enum builds_gate gate);

/* builds_print.c: what it came to, and a line a configuration. */
void builds_summary(const struct builds *builds);
void builds_list(const struct builds *builds);
/* builds_json.c: both, as members of an open object. */
int builds_json(const struct builds *builds, struct json_out *out,
                struct err *err);

#endif
