/* sched_orders.h - extra measurements on a given GPU (sched.h)
 *
 * An order is one additional measurement of any unit on one given GPU. The
 * orders of a GPU are handed out in the order in which they were made, before
 * all other work.  An order whose unit is held or not built yet delays the
 * orders behind it, but not other work.
 */
#ifndef FA_COORDINATOR_SCHEDULE_SCHED_ORDERS_H
#define FA_COORDINATOR_SCHEDULE_SCHED_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/schedule/job.h"
#include "coordinator/schedule/sched_leases.h"

struct sched_order {
    int unit, shape;
    int host, gpu;
    enum sched_purpose purpose; /* not SCHED_SCREEN */
    int round;                  /* identity within unit, shape and purpose */
    int pass;                   /* who made it; the caller's number */
    bool fresh;
};

/* Order a measurement.  Its unit and the reference are built first if
 * necessary.  Returns its id, > 0. Returns 0 if it is impossible: the host is
 * not up or has no such GPU, or the unit or the reference failed to build. */
int64_t sched_order(struct sched *sched, const struct sched_order *order);
/* Cancel an order that waits; false if it is leased or over. */
bool sched_order_cancel(struct sched *sched, int64_t id);
/* The lease an order holds, or NULL. */
const struct sched_lease *sched_order_lease(const struct sched *sched,
                                            int64_t id);

/* Like sched_apply(). RESULT and REJECT end the order.  A lost or refused one
 * waits ahead of the others, or is dropped if that was its last attempt.
 * Returns true if the order changed state. */
bool sched_order_apply(struct sched *sched, int64_t id, enum job_event event);

/* This GPU no longer exists: drop the orders that wait for it.  'why' must be a
 * constant. */
void sched_orders_drop(struct sched *sched, int host, int gpu, const char *why);

/* Takes one order that was dropped since the last call, as a lease with id 0,
 * and the reason; false if no order was dropped. */
bool sched_order_dropped(struct sched *sched, struct sched_lease *out,
                         const char **why);

int sched_open_orders(const struct sched *sched);

#endif
