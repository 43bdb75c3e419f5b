/* rented.h - hosts of a sweep that start= acquires, when they are worth it
 *
 * Four times a second the planner (rental_plan.h) is asked which machines are
 * wanted.  Each turn then takes one step towards that for each host: start= and
 * a connection, or a worker that is told to stop, no connection, and stop=.
 */
#ifndef FA_COORDINATOR_REACTOR_RENTED_H
#define FA_COORDINATOR_REACTOR_RENTED_H

#include <stddef.h>
#include <stdint.h>

struct sweep;

/* Before the first turn.  A rented host is held in the books only if an earlier
 * run of this command acquired it. */
void rented_begin(struct sweep *sweep, size_t host);
void rented_turn(struct sweep *sweep, int64_t now);
/* Its connection ends, until it is acquired again. */
void rented_park(struct sweep *sweep, size_t host);

#endif
