/* sim_vice.h - what an honest worker does not do (enum sim_vice)
 *
 * The worker asks at each place where a vice changes what it does.
 */
#ifndef FA_TESTS_SIMULATION_SIM_VICE_H
#define FA_TESTS_SIMULATION_SIM_VICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msg;
struct sim_world;

/* Some vices end: until then, the run may take longer. */
void sim_vice_begin(struct sim_world *world, size_t host);
/* Called once a turn: a flood, an eviction, a forged result. */
void sim_vice_act(struct sim_world *world, size_t host);
int64_t sim_vice_next(struct sim_world *world, size_t host);
/* Adds false claims to what HELLO says is running. */
void sim_vice_claim(struct sim_world *world, size_t host, char ***items,
                    size_t *n);
bool sim_vice_refuses(struct sim_world *world, size_t host);
bool sim_vice_sits(struct sim_world *world, size_t host); /* starts no work */
bool sim_vice_is_late(struct sim_world *world, size_t host);
const char *sim_vice_bytes(struct sim_world *world, size_t host,
                           const char *bytes); /* of an artifact */
void sim_vice_twist(struct sim_world *world, size_t host, struct msg *result);

#endif
