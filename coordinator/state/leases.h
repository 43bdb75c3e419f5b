/* leases.h - deadlines of leases, which are late, and their end
 */
#ifndef FA_COORDINATOR_STATE_LEASES_H
#define FA_COORDINATOR_STATE_LEASES_H

#include <stdint.h>

#include "coordinator/schedule/ledger.h"

struct sched_lease;
struct sweep;

#define LEASES_GRACE_S 30 /* over the limit: then it is lost */

void leases_started(struct sweep *sweep, const struct sched_lease *lease);
/* How a lease ends; its row has the word. */
enum leases_ending {
    LEASES_DONE,      /* with its result */
    LEASES_LOST,      /* there will be none */
    LEASES_REFUSED,   /* its worker did not take it */
    LEASES_CANCELLED, /* its result came from elsewhere, or in another run */
};
const char *leases_ending_name(enum leases_ending ending);
/* Its row and its time end. */
void leases_end(struct sweep *sweep, const struct sched_lease *lease,
                enum leases_ending ending, enum ledger_category category);

/* CLOCK_BOOTTIME, as of the last leases_turn(). */
int64_t leases_deadline(const struct sweep *sweep,
                        const struct sched_lease *lease);
/* Note which are late; there is a plan. */
void leases_turn(struct sweep *sweep, int64_t now);
/* One that has no answer past its deadline, or NULL. */
const struct sched_lease *leases_expired(const struct sweep *sweep,
                                         int64_t now);
/* What this process slept is nobody's fault. */
void leases_forgive(struct sweep *sweep, int64_t by_ns);

#endif
