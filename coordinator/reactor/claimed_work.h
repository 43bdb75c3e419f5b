/* claimed_work.h - the work that a worker says it has, in HELLO.running
 *
 * A connection begins with leases that both sides know, and others that only
 * one of them does.  Both functions belong to READY: the worker has offered its
 * journal by then, so existing results have arrived.
 */
#ifndef FA_COORDINATOR_REACTOR_CLAIMED_WORK_H
#define FA_COORDINATOR_REACTOR_CLAIMED_WORK_H

#include <stddef.h>

struct sweep;

/* End the host's leases that its worker does not have: they never arrived (the
 * same worker), or were lost with their worker (another one). */
void claimed_work_drop_others(struct sweep *sweep, size_t host);

/* Lease to the host what its worker has: builds and screenings that this host
 * was given once; otherwise a false claim would keep the work from all others.
 * Results of orders of an earlier run are stored when they come, but this run
 * makes its own orders.  What is not wanted any more is cancelled. */
void claimed_work_adopt(struct sweep *sweep, size_t host);

#endif
