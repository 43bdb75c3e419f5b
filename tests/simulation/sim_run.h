/* sim_run.h - one seed: lives of the coordinator until the work is done
 *
 * A coordinator that was killed, or that ended because of a fault, is started
 * again on the same database, as a user would do.  If that goes wrong, it is a
 * finding, like those of the checker.
 */
#ifndef FA_TESTS_SIMULATION_SIM_RUN_H
#define FA_TESTS_SIMULATION_SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "tests/simulation/sim_scene.h"

struct artifact_cache;
struct plan_ask;
struct spec;
struct sweep_options;
struct sim_world;

#define SIM_FINDINGS_MAX 8

struct sim_finding {
    const char *check; /* I1 .. I8, F3, F28, "exit" */
    char text[300];
};

struct sim_run {
    struct sim_world *world;
    struct artifact_cache *cache; /* of all lives, or NULL */
    bool idle;                    /* check F28, too */
    bool dial;                    /* most hosts dial back */
    bool full;                    /* with what sim_full.h draws */
    struct sim_finding findings[SIM_FINDINGS_MAX];
    size_t n; /* all findings; only the first ones are kept */
    int code; /* exit code of the last life */
    struct err why;
};

void sim_run_finds(struct sim_run *run, const char *check, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs all passes of the seed, then the checks.  The caller must
 * sim_world_fini() the world. */
void sim_run_seed(struct sim_run *run, uint64_t seed, enum sim_pass pass);

/* Runs lives with these options on the database, or on that of the fuzz proof,
 * until one ends well.  Returns false after a finding, or if no life can
 * continue. */
bool sim_run_lives(struct sim_run *run, struct spec *spec,
                   const struct sweep_options *options, bool fuzz);

#endif
