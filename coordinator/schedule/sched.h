/* sched.h - who does what next: builds and measurements over hosts and GPUs
 *
 * A unit is something that is built: a configuration's kernel, or the
 * reference (the unit after the last configuration).  Every configuration has
 * one measurement a shape.  A measurement can start when its unit and the
 * reference are built. Builds go wherever a slot is free, in unit order, the
 * reference first; measurements go to a GPU of the host that holds the
 * artifact, or, when that host has more waiting than its own GPUs take, to any
 * idle GPU.
 *
 * Leases bound what a host may hold: its build slots and one in waiting, and
 * its measuring credit a GPU, so that no slot waits for a round trip.
 *
 * Where nothing else is left, an idle GPU or builder of another host repeats
 * what is out late: the job then has two leases, the first result counts, and
 * a loss of one of them leaves it to the other (backup tasks, as in Dean and
 * Ghemawat, "MapReduce", OSDI 2004, section 3.6).
 *
 * A unit may be held back until it is wanted, or dropped: a search says as it
 * goes which configurations it wants.
 *
 * Pure: no clock, no socket, no database; hosts, GPUs, units and shapes are
 * indices chosen by the caller.
 */
#ifndef FA_COORDINATOR_SCHEDULE_SCHED_H
#define FA_COORDINATOR_SCHEDULE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/schedule/job.h"
#include "coordinator/schedule/sched_leases.h"
#include "coordinator/schedule/sched_orders.h"

struct sched;

struct sched_limits {
    int units;    /* configurations */
    int shapes;   /* measurements of each */
    int hosts;    /* indices 0 .. hosts-1 */
    int attempts; /* leases a job may lose, the first included */
};

struct sched *sched_new(struct sched_limits limits);
void sched_free(struct sched *sched);

/* What an earlier run settled already; before the first host is up.
 * With 'done' false it failed for good. */
void sched_settled(struct sched *sched, enum job_stage stage, int unit,
                   int shape, bool done);
void sched_losses(struct sched *sched, enum job_stage stage, int unit,
                  int shape, int losses); /* tries used in earlier runs */

/* A unit that an earlier run built on this host, whose cache has it still. */
void sched_built_at(struct sched *sched, int unit, int host);

/* Hand out nothing of the unit until it is released; before the first host is
 * up.  Released units are built in the order of their release. */
void sched_hold(struct sched *sched, int unit);
void sched_release(struct sched *sched, int unit);
/* It is held and nobody wants it any more: settled, and never done. */
void sched_drop(struct sched *sched, int unit);

void sched_host_up(struct sched *sched, int host, int slots, int gpus,
                   int measure_credit);
void sched_host_pause(struct sched *sched, int host, bool paused);
/* A GPU that rests measures nothing but what is ordered. */
void sched_gpu_rest(struct sched *sched, int host, int gpu, bool rests);

/* The next lease to hand out, or false when nothing can be. */
bool sched_next(struct sched *sched, struct sched_lease *out);

/* Work that a worker kept from an earlier run.  False when the job is
 * settled or leased already. */
bool sched_adopt(struct sched *sched, enum job_stage stage, int unit, int shape,
                 int host, int gpu, struct sched_lease *out);

/* A lease that nobody ordered ends without a result: LOST or REFUSED.  While
 * its repetition is out the job stays with that one.  Returns true when the
 * job changed state. */
bool sched_lease_apply(struct sched *sched, int64_t id, enum job_event event);

/* Tell what became of a job, from any worker: RESULT, REJECT.  Ends its leases.
 * 'host' is where a built artifact lies.  Returns true when the job changed
 * state. */
bool sched_apply(struct sched *sched, enum job_stage stage, int unit, int shape,
                 enum job_event event, int host);

/* The host is gone: it takes no more, and what only it had built and is still
 * needed is built again.  End its leases first. */
void sched_host_down(struct sched *sched, int host);

/* No host has the artifact any more: build it again. */
void sched_vanished(struct sched *sched, int unit);

const struct job *sched_job(const struct sched *sched, enum job_stage stage,
                            int unit, int shape);
int sched_home(const struct sched *sched, int unit); /* host, or -1 */
/* Not settled, orders included. */
int sched_open_jobs(const struct sched *sched);

#endif
