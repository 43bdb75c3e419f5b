/* dispatch.h - leases are handed out
 */
#ifndef FA_COORDINATOR_REACTOR_DISPATCH_H
#define FA_COORDINATOR_REACTOR_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/sched.h"

struct sweep;

/* Hand out what can be handed out. */
void dispatch_turn(struct sweep *sweep);
/* What a worker is given for a build or a measurement. */
int64_t dispatch_limit_ms(const struct sweep *sweep, enum job_stage stage);
void dispatch_granted(struct sweep *sweep, const struct sched_lease *lease);
int dispatch_record_lease(struct sweep *sweep, const struct sched_lease *lease);

#endif
