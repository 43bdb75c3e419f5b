/* resume.h - what earlier runs left
 */
#ifndef FA_COORDINATOR_REACTOR_RESUME_H
#define FA_COORDINATOR_REACTOR_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/job.h"

struct err;
struct msg;
struct sched_lease;
struct sweep;

int resume_take_past(struct sweep *sweep, struct err *err);
/* Builds that are still in the host's cache need not be made again. */
void resume_take_cache(struct sweep *sweep, size_t host);
/* The same for one unit and all hosts. */
void resume_take_built(struct sweep *sweep, int unit);
/* Did an earlier run give the host exactly this work?  1, 0 or ERR_STORE. */
int resume_was_leased(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err);
/* Is the artifact of a MEASURED one that was built for this configuration from
 * these sources ("": from any)?  1, 0 or ERR_STORE. */
int resume_was_built(struct sweep *sweep, const struct msg *msg,
                     const char *source_key, struct err *err);
/* Did this or an earlier run give the host this build, or this measurement to
 * screen it? */
bool resume_was_given(const struct sweep *sweep, size_t host,
                      enum job_stage stage, int unit, int shape);

#endif
