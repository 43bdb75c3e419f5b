/* link.h - connections to the hosts: the ROUTER, and one thread a host
 *
 * The real implementation of struct sweep_link: ZeroMQ sockets in a run folder
 * of their own, the host threads that keep the connections, and one poll over
 * all of them.
 */
#ifndef FA_COORDINATOR_LINK_LINK_H
#define FA_COORDINATOR_LINK_LINK_H

#include "coordinator/link/sweep_io.h"

struct link *link_new(void);
void link_free(struct link *link); /* call close() first */

/* Its table of functions, valid until link_free(). */
struct sweep_link link_table(struct link *link);

#endif
