/* sched.h - assigns builds and measurements to hosts and GPUs
 *
 * A unit is something that is built: a configuration's kernel, or the reference
 * (the unit after the last configuration). Every configuration has one
 * measurement a shape.  A measurement can start when its unit and the reference
 * are built.  Builds go to any host with a free slot, in unit order, the
 * reference first.  A measurement goes to a GPU of the host that holds the
 * artifact.  If that host has more measurements waiting than its own GPUs can
 * take, any idle GPU may take one.  If it has no GPU, those that are busy take
 * what the idle ones leave.
 *
 * The leases of a host are limited: one more build than it has slots, and its
 * measuring credit for each GPU.  So neither waits for a round trip, which may
 * take longer than ten measurements of a light kernel.
 *
 * When nothing else is left, an idle GPU or build slot of another host repeats
 * a late lease.  The job then has two leases, and the first result counts; if
 * one lease is lost, the other continues (backup tasks, as in Dean and
 * Ghemawat, "MapReduce", OSDI 2004, section 3.6).  A repetition that is lost
 * uses up a try, so a configuration that crashes is not repeated for ever.
 *
 * A unit may be held back until it is wanted, or dropped: a search decides as
 * it runs which configurations it wants.
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
    int hosts;    /* indices 0 .. hosts-1; one may be the caller's own copies of
                   * artifacts, without slots and GPUs */
    int attempts; /* leases that a job may lose, the first included */
};

struct sched *sched_new(struct sched_limits limits);
void sched_free(struct sched *sched);

/* What an earlier run has settled; call before the first host is up.  'done'
 * false: it failed for good. */
void sched_settled(struct sched *sched, enum job_stage stage, int unit,
                   int shape, bool done);
void sched_losses(struct sched *sched, enum job_stage stage, int unit,
                  int shape, int losses); /* tries used in earlier runs */

/* A unit that an earlier run built on this host and that is still in its
 * cache. */
void sched_built_at(struct sched *sched, int unit, int host);

/* It is built, and its artifact is had from this host from now on. */
void sched_moved(struct sched *sched, int unit, int host);

/* Hand out nothing of the unit until it is released.  Call before the first
 * host is up.  Released units are built in the order of their release. */
void sched_hold(struct sched *sched, int unit);
bool sched_is_held(const struct sched *sched, int unit);
void sched_release(struct sched *sched, int unit);
/* The unit is held and no longer wanted: it is settled, and never done. */
void sched_drop(struct sched *sched, int unit);

void sched_host_up(struct sched *sched, int host, int slots, int gpus,
                   int measure_credit);
void sched_host_credit(struct sched *sched, int host, int measure_credit);
void sched_host_pause(struct sched *sched, int host, bool paused);
/* A resting GPU gets only ordered measurements. */
void sched_gpu_rest(struct sched *sched, int host, int gpu, bool rests);

/* The next lease to hand out; false if nothing can be handed out now. */
bool sched_next(struct sched *sched, struct sched_lease *out);

/* Is a GPU or a build slot without work, or may it be before long, while work
 * waits that it might take?  A slot may wait while SCHED_CREDIT measurements
 * for each GPU are built and not given. */
bool sched_is_idle(const struct sched *sched);

/* Work that a worker still has from an earlier run.  False if the job is
 * settled or leased already. */
bool sched_adopt(struct sched *sched, enum job_stage stage, int unit, int shape,
                 int host, int gpu, struct sched_lease *out);

/* A lease that is not an order ends without a result: LOST, CRASHED or REFUSED.
 * If it has a repetition, the job stays with that one, unless a crash used up
 * the last try: then both leases end.  Returns true if the job changed
 * state. */
bool sched_lease_apply(struct sched *sched, int64_t id, enum job_event event);

/* The result of a job, from any worker: RESULT or REJECT. Ends its leases.
 * 'host' is where a built artifact is.  Returns true if the job changed
 * state. */
bool sched_apply(struct sched *sched, enum job_stage stage, int unit, int shape,
                 enum job_event event, int host);

/* The host is gone and takes no more work.  Artifacts that only it had and that
 * are still needed are built again.  End its leases first. */
void sched_host_down(struct sched *sched, int host);

/* No host has the artifact any more: the unit is built again. */
void sched_vanished(struct sched *sched, int unit);

const struct job *sched_job(const struct sched *sched, enum job_stage stage,
                            int unit, int shape);
int sched_home(const struct sched *sched, int unit); /* host, or -1 */
/* A measurement or an order that is not settled needs its artifact. */
bool sched_is_needed(const struct sched *sched, int unit);
/* Jobs that are not settled, and open orders. */
int sched_open_jobs(const struct sched *sched);

#endif
