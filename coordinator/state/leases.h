/* leases.h - the deadlines of leases, late leases, and how leases end
 */
#ifndef FA_COORDINATOR_STATE_LEASES_H
#define FA_COORDINATOR_STATE_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/ledger.h"

struct sched_lease;
struct sweep;

#define LEASES_GRACE_S 30 /* over the limit: then it is lost */

void leases_started(struct sweep *sweep, const struct sched_lease *lease);
/* How many a GPU of this host may hold. */
int leases_credit(const struct sweep *sweep, size_t host);
/* How a lease ends; its row has the name. */
enum leases_ending {
    LEASES_DONE,      /* with its result */
    LEASES_LOST,      /* without a result */
    LEASES_REFUSED,   /* its worker did not take it */
    LEASES_CANCELLED, /* its result came from elsewhere, or in another run */
};
const char *leases_ending_name(enum leases_ending ending);
/* End its row and its interval in the ledger. */
void leases_end(struct sweep *sweep, const struct sched_lease *lease,
                enum leases_ending ending, enum ledger_category category);
/* Tell its host to drop this lease, which may be over here already, and those
 * that it had earlier for the same work: adopted work has the number of an
 * earlier lease there. */
void leases_cancel(struct sweep *sweep, int64_t id);

/* Files of arguments have been arriving at this host for so long: that time
 * does not count for measurements that wait there. */
void leases_arrived(struct sweep *sweep, size_t host, int64_t for_ns);

/* CLOCK_BOOTTIME, as of the last leases_turn(). */
int64_t leases_deadline(const struct sweep *sweep,
                        const struct sched_lease *lease);
/* Mark the late ones.  Needs a plan. */
void leases_turn(struct sweep *sweep, int64_t now);
/* A lease without an answer at its deadline, or NULL. */
const struct sched_lease *leases_expired(const struct sweep *sweep,
                                         int64_t now);
/* This process slept: move the deadlines. */
void leases_forgive(struct sweep *sweep, int64_t by_ns);

/* Is a lease of this GPU out?  It may still run if the connection broke. */
bool leases_hold_gpu(const struct sweep *sweep, size_t host, int gpu);

#endif
