/* costs_internal.h - the parts of the list, for costs*.c */
#ifndef FA_COORDINATOR_COSTS_COSTS_INTERNAL_H
#define FA_COORDINATOR_COSTS_COSTS_INTERNAL_H

#include "coordinator/costs/costs.h"

/* Add a line; takes 'line.name'. */
void costs_add(struct costs *costs, struct costs_line line);

/* costs_gpus.c: a line for each GPU and kind; 'rate' is the median of the hosts
 * with GPUs, in USD per hour, or NaN. */
int costs_add_gpus(struct costs *costs, struct store *store,
                   const struct report_cost *cost, double *rate_out,
                   struct err *err);

#endif
