/* link.h - the way to the hosts: the ROUTER, and a thread a host
 *
 * The real implementation of struct sweep_link: sockets of ZeroMQ in a run
 * folder of its own, the host threads that keeps the connections, and one poll
 * over all of it.
 */
#ifndef FA_COORDINATOR_LINK_LINK_H
#define FA_COORDINATOR_LINK_LINK_H

#include "coordinator/link/sweep_io.h"

struct link *link_new(void);
void link_free(struct link *link); /* after close() */

/* Its table of functions; valid as long as it is. */
struct sweep_link link_table(struct link *link);

#endif
