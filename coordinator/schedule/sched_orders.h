/* sched_orders.h - measurements that somebody asks a sched for (sched.h)
 *
 * An order is one measurement more, of any unit on one given GPU.  The orders
 * of a GPU go in the order they were made, before all other work; one whose
 * unit is not built yet holds up those behind it, and not the other work; so
 * does one whose unit is held.
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

/* Order a measurement; its unit and the reference are built for it if they
 * are not.  Returns its id, > 0, or 0 when it cannot be: the host is not up or
 * has no such GPU, or the unit or the reference failed to build. */
int64_t sched_order(struct sched *sched, const struct sched_order *order);
/* Forget an order that waits; false when it is leased or over. */
bool sched_order_cancel(struct sched *sched, int64_t id);
/* The lease an order holds, or NULL. */
const struct sched_lease *sched_order_lease(const struct sched *sched,
                                            int64_t id);

/* As sched_apply().  After RESULT and REJECT the order is over; what was lost
 * or refused waits in front of the others, or is dropped when it was the last
 * attempt.  Returns true when the order changed state. */
bool sched_order_apply(struct sched *sched, int64_t id, enum job_event event);

/* No GPU is this one any more: its orders that wait are dropped.  'why' is a
 * constant. */
void sched_orders_drop(struct sched *sched, int host, int gpu, const char *why);

/* One order that was dropped since it was asked last, as a lease with id 0,
 * and why; false when there is none. */
bool sched_order_dropped(struct sched *sched, struct sched_lease *out,
                         const char **why);

int sched_open_orders(const struct sched *sched);

#endif
