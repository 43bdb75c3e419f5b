/* sim_host_thread.h - logins and connections as coordinator/link/host_thread.c
 * makes them
 *
 * A host goes through CONNECTING, UPLOADING and ATTACHED.  When it is BROKEN,
 * the thread tries again: after half a second at first, then after growing
 * pauses. The thread gives a host up if its login is refused.
 */
#ifndef FA_TESTS_SIMULATION_SIM_HOST_THREAD_H
#define FA_TESTS_SIMULATION_SIM_HOST_THREAD_H

#include <stdbool.h>
#include <stddef.h>

struct sim_world;

void sim_host_thread_start(struct sim_world *world, size_t host);
/* The host's connection ended, for this reason. */
void sim_host_thread_broken(struct sim_world *world, size_t host,
                            const char *why);
/* The same, after the time that the news from the other end needs to arrive. */
void sim_host_thread_breaks(struct sim_world *world, size_t host,
                            bool worker_ended);
void sim_host_thread_again(struct sim_world *world,
                           size_t host); /* reconnect() */
void sim_host_thread_dismiss(struct sim_world *world,
                             size_t host); /* dismiss() */
/* The coordinator's process ended, and all its threads with it. */
void sim_host_thread_kill(struct sim_world *world, size_t host);

#endif
