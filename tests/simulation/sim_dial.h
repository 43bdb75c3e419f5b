/* sim_dial.h - hosts whose workers dial back, as coordinator/link/dial_hosts.c
 * has them
 *
 * The rules of the coordinator are the real ones (dial_presence.h), and those
 * of the worker, too (claim.h).  Somebody starts a worker there with its
 * invitation, and another one when it has ended.
 */
#ifndef FA_TESTS_SIMULATION_SIM_DIAL_H
#define FA_TESTS_SIMULATION_SIM_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_thread_news;
struct msg;
struct sim_world;

bool sim_dial_has(const struct sim_world *world, size_t host);

/* The coordinator listens. */
void sim_dial_listen(struct sim_world *world, size_t host);
/* Is the message, which came over this stream, for the reactor?  '*invites': it
 * is to be answered by INVITE. */
bool sim_dial_hear(struct sim_world *world, size_t host, const struct msg *msg,
                   int64_t stream, bool *invites);
int sim_dial_news(struct sim_world *world, size_t host,
                  struct host_thread_news *out);
void sim_dial_reconnect(struct sim_world *world, size_t host);
void sim_dial_dismiss(struct sim_world *world, size_t host);

/* Its worker will be started in 1 to 'most_ms' ms, unless one runs by then. */
void sim_dial_start_later(struct sim_world *world, size_t host, int most_ms);

#endif
