/* sim_world.h - everything outside the coordinator, from one seed
 *
 * Time passes only while the coordinator waits or while none runs.  Then the
 * events of the queue happen, one by one.  All random numbers come from one
 * generator, so the seed decides the whole run.
 */
#ifndef FA_TESTS_SIMULATION_SIM_WORLD_H
#define FA_TESTS_SIMULATION_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/stats/prng.h"
#include "tests/simulation/sim_host.h"
#include "tests/simulation/sim_life.h"
#include "tests/simulation/sim_line.h"
#include "tests/simulation/sim_queue.h"
#include "tests/simulation/sim_scene.h"
#include "tests/simulation/sim_trace.h"

#define SIM_FOR_EVER INT64_MAX
#define SIM_UTC_NS INT64_C(1700000000000000000) /* when boot_ns is 0 */

struct sim_world {
    uint64_t seed;
    struct prng prng;
    int64_t boot_ns;
    int64_t utc_off_ns;   /* the sum of all steps of the wall clock */
    int64_t healed_ns;    /* the end of the last fault so far */
    int64_t well_ns;      /* from then on nothing fails in the cloud */
    int64_t late_ns;      /* for so long the coordinator could not look */
    size_t rents_running; /* machines that the last release left */
    struct sim_queue queue;
    struct sim_trace trace;
    struct sim_scene scene;
    struct sim_host hosts[SIM_HOSTS_MAX];
    struct sim_line lines[SIM_HOSTS_MAX];
    struct sim_life life;
};

void sim_world_init(struct sim_world *world, uint64_t seed, enum sim_pass pass,
                    bool dial, bool full);
void sim_world_fini(struct sim_world *world);
/* Lets one event happen, if it is not after 'until_ns'. */
bool sim_world_step(struct sim_world *world, int64_t until_ns);
/* Lets all events until then happen, and sets the clock to 'until_ns'. */
void sim_world_run(struct sim_world *world, int64_t until_ns);

/* [low, high] */
int64_t sim_between(struct sim_world *world, int64_t low, int64_t high);
bool sim_chance(struct sim_world *world, int percent);
/* A number that depends on the seed and the text alone. */
uint64_t sim_mix(const struct sim_world *world, const char *text);

void sim_world_note(struct sim_world *world, enum sim_kind kind, int host,
                    const char *text);
/* Notes a message that nobody got. */
void sim_world_note_bytes(struct sim_world *world, enum sim_kind kind,
                          size_t host, const struct sim_parcel *parcel);
/* A fault lasts until then.  The time that the run may take is counted from its
 * end. */
void sim_world_lasts(struct sim_world *world, int64_t until_ns);

#endif
