/* orders.h - measurements and commands that a pass asks for
 */
#ifndef FA_COORDINATOR_REACTOR_ORDERS_H
#define FA_COORDINATOR_REACTOR_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct msg;
struct sched_lease;
struct sweep;
struct sched_order;

/* As sched_order(); a build that an earlier run made for it is used again. */
int64_t orders_place(struct sweep *sweep, const struct sched_order *order);
/* The result of a measurement that was ordered, by this run or another. */
void orders_measured(struct sweep *sweep, const struct sched_lease *job,
                     const struct msg *msg);
/* Tell the passes which of their orders were dropped. */
void orders_drop(struct sweep *sweep);
/* A command has run, by an order of this run or another. */
int orders_ran(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err);

#endif
