/* sim_full.h - what only 'simulate --full' draws
 *
 * Rented machines, caps, GPUs of several models, one box under two names,
 * messages that come twice, hosts that come late, and more kinds of faults.
 * They are drawn after all else, so that a seed without --full stays what it
 * is.
 */
#ifndef FA_TESTS_SIMULATION_SIM_FULL_H
#define FA_TESTS_SIMULATION_SIM_FULL_H

struct sim_world;

void sim_full_draw(struct sim_world *world);

#endif
