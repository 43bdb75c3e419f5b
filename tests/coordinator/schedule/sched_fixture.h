/* sched_fixture.h - two configurations of one shape, and their reference
 *
 * What is expected is asserted.
 */
#ifndef FA_TESTS_COORDINATOR_SCHEDULE_SCHED_FIXTURE_H
#define FA_TESTS_COORDINATOR_SCHEDULE_SCHED_FIXTURE_H

#include <stdbool.h>

#include "coordinator/schedule/sched.h"

#define PAIR_REFERENCE 2 /* the unit after the two configurations */

/* A job may lose three leases.  For the caller to free. */
struct sched *pair_new(int hosts);

/* The next lease, which there must be: of this job, on this host. */
struct sched_lease pair_take(struct sched *sched, enum job_stage stage,
                             int unit, int host);
/* It was leased, and is built now. */
void pair_built(struct sched *sched, int unit, int host);
/* Its lease is lost; false if it has none. */
bool pair_lose(struct sched *sched, enum job_stage stage, int unit, int shape);

#endif
