/* sim_rent.h - hosts of a sweep that start= acquires from a cloud (cloud.h)
 *
 * The real rental.c and release.c use it, as a command does: what an earlier
 * life left is stopped first, and everything at the end.  The machines of the
 * cloud are hosts of the world, which are off and have an empty disk until
 * start= has worked.
 */
#ifndef FA_TESTS_SIMULATION_SIM_RENT_H
#define FA_TESTS_SIMULATION_SIM_RENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the trace, before machines are released. */
#define SIM_RUN_BEGINS "the run begins"
#define SIM_RUN_IS_OVER "the run is over"

struct err;
struct host;
struct hosts;
struct sim_run;
struct sim_world;
struct sweep_options;

void sim_rent_draw(struct sim_world *world);
/* There is no cloud any more. */
void sim_rent_end(void);

bool sim_rent_has(const struct sim_world *world, size_t host);
/* May its machine be on?  True for a host that is not rented. */
bool sim_rent_is_on(const struct sim_world *world, size_t host);
/* The cloud does what is due. */
void sim_rent_turn(struct sim_world *world);

/* In a life of the coordinator: before its run, and after it.  ERR_STORE */
int sim_rent_open(struct sim_world *world, const struct hosts *hosts,
                  struct sweep_options *options, struct err *err);
int sim_rent_close(struct sim_world *world, struct err *err);
/* The coordinator's process ended. */
void sim_rent_died(struct sim_world *world);

/* Nothing runs that no row names. */
void sim_rent_check_listed(struct sim_run *run);
/* A person runs 'fa-coord release', when nothing fails any more: then nothing
 * runs, and the ledger has what the machines cost. */
void sim_rent_check_end(struct sim_run *run);

/* The link's rented() and park(). */
void sim_rent_connect(struct sim_world *world, size_t host);
void sim_rent_park(struct sim_world *world, size_t host);

#endif
