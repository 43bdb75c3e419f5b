/* sim_hand.h - logins and connections as coordinator/link/host_thread.c makes
 * them
 *
 * CONNECTING, UPLOADING, ATTACHED, until it is BROKEN and tried again, half a
 * second later at first, then later each time; a refused login is given up.
 */
#ifndef FA_TESTS_SIMULATION_SIM_HAND_H
#define FA_TESTS_SIMULATION_SIM_HAND_H

#include <stdbool.h>
#include <stddef.h>

struct sim_world;

void sim_hand_start(struct sim_world *world, size_t host);
/* Its connection ended, for this reason. */
void sim_hand_broken(struct sim_world *world, size_t host, const char *why);
/* The same, a while later: what its peer's end takes to arrive. */
void sim_hand_breaks(struct sim_world *world, size_t host, bool worker_ended);
void sim_hand_again(struct sim_world *world, size_t host);   /* reconnect() */
void sim_hand_dismiss(struct sim_world *world, size_t host); /* dismiss() */
/* The coordinator's process is gone, and all its threads. */
void sim_hand_kill(struct sim_world *world, size_t host);

#endif
