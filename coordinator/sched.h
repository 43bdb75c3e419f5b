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
 * A unit may be held back until it is wanted, or dropped: a search says as it
 * goes which configurations it wants.
 *
 * An order is one measurement more, of any unit on one given GPU.  The orders
 * of a GPU go in the order they were made, before all other work; one whose
 * unit is not built yet holds up those behind it, and not the other work; so
 * does one whose unit is held.
 *
 * Pure: no clock, no socket, no database; hosts, GPUs, units and shapes are
 * indices chosen by the caller.
 */
#ifndef FA_COORDINATOR_SCHED_H
#define FA_COORDINATOR_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/job.h"

struct sched;

struct sched_limits {
    int units;    /* configurations */
    int shapes;   /* measurements of each */
    int hosts;    /* indices 0 .. hosts-1 */
    int attempts; /* leases a job may lose, the first included */
};

enum sched_purpose {
    SCHED_SCREEN, /* the one measurement that each configuration has */
    SCHED_AGAIN,  /* the same once more, because its time is in doubt */
    SCHED_CANARY,
    SCHED_CONFIRM,
    SCHED_EXTERNAL, /* a run of the external baseline; its unit is any */
    SCHED_PROFILE,  /* a configuration under a profiler */
};
const char *sched_purpose_name(enum sched_purpose purpose); /* of results */
bool sched_is_tool(enum sched_purpose purpose); /* a command, no measurement */

struct sched_lease {
    int64_t id; /* unique in this sched, > 0 */
    enum job_stage stage;
    int unit;
    int shape; /* 0 for a build */
    int host;
    int gpu;     /* index on its host, -1 for a build */
    int attempt; /* 1 is the first */

    int64_t order; /* of a measurement; 0 when nobody ordered it */
    enum sched_purpose purpose;
    int round;
    bool fresh; /* by a new process of the worker */
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

/* The lease with this id, or the one a job holds; NULL when there is none.
 * Valid until the next call that changes the sched. */
const struct sched_lease *sched_lease_get(const struct sched *sched,
                                          int64_t id);
const struct sched_lease *sched_lease_of(const struct sched *sched,
                                         enum job_stage stage, int unit,
                                         int shape);
/* Any lease of this host, NULL when it has none: to end them one by one. */
const struct sched_lease *sched_lease_on(const struct sched *sched, int host);
/* Lease 'i' of those handed out, in no order; NULL past the last. */
const struct sched_lease *sched_lease_at(const struct sched *sched, int i);

/* Tell what became of a job, whoever did it: RESULT, REJECT, LOST, REFUSED.
 * Ends its lease if it has one.  'host' is where a built artifact lies.
 * Returns true when the job changed state. */
bool sched_apply(struct sched *sched, enum job_stage stage, int unit, int shape,
                 enum job_event event, int host);

/* The host is gone: it takes no more, and what only it had built and is still
 * needed is built again.  End its leases first. */
void sched_host_down(struct sched *sched, int host);

/* An artifact turned out to be nowhere: build it again. */
void sched_vanished(struct sched *sched, int unit);

struct sched_order {
    int unit, shape;
    int host, gpu;
    enum sched_purpose purpose; /* not SCHED_SCREEN */
    int round;                  /* identity within unit, shape and purpose */
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

const struct job *sched_job(const struct sched *sched, enum job_stage stage,
                            int unit, int shape);
int sched_home(const struct sched *sched, int unit); /* host, or -1 */
/* Not settled, orders included. */
int sched_open_jobs(const struct sched *sched);
int sched_open_orders(const struct sched *sched);
int sched_leases(const struct sched *sched); /* handed out now */

#endif
