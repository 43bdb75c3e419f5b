/* dispatch.h - hand out leases
 */
#ifndef FA_COORDINATOR_REACTOR_DISPATCH_H
#define FA_COORDINATOR_REACTOR_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/sched.h"

struct sweep;

/* Ask the passes what they want to be done. */
void dispatch_ask(struct sweep *sweep);
/* Hand out all leases that can be handed out now. */
void dispatch_leases(struct sweep *sweep);
/* The time limit that a worker gets for a build or a measurement. */
int64_t dispatch_limit_ms(const struct sweep *sweep, enum job_stage stage);
void dispatch_granted(struct sweep *sweep, const struct sched_lease *lease);
int dispatch_record_lease(struct sweep *sweep, const struct sched_lease *lease);

#endif
