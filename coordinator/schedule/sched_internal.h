/* sched_internal.h - the parts of a sched
 *
 * Private to its files.  Each calls only those after it: sched.c (events),
 * sched_next.c (which host takes what), sched_orders.c (extra measurements on a
 * given GPU), sched_jobs.c (builds and measurements) and sched_leases.c (what
 * is handed out).
 */
#ifndef FA_COORDINATOR_SCHEDULE_SCHED_INTERNAL_H
#define FA_COORDINATOR_SCHEDULE_SCHED_INTERNAL_H

#include "coordinator/schedule/int_queue.h"
#include "coordinator/schedule/sched.h"

enum order_state {
    ORDER_WAITING,
    ORDER_LEASED,
    ORDER_DROPPED, /* and the caller has not been told yet */
    ORDER_ENDED
};

struct order {
    struct sched_order is;
    enum order_state state;
    int tries_left, losses;
    int64_t lease;   /* 0 for none */
    const char *why; /* why it was dropped */
};

struct sched_host {
    bool up, paused;
    int slots, gpus, credit;
    int builds;              /* leases held */
    int *measures;           /* leases held, one count a GPU */
    struct int_queue ready;  /* measurements whose artifact lies here */
    struct int_queue *asked; /* orders that wait, one queue a GPU */
    bool *rests;             /* by GPU: it rests */
    int cap_gpus;            /* capacity of asked and rests */
    int turn;                /* the GPU that is asked first */
};

struct sched_jobs {
    struct job *list; /* builds of all units, then unit x shape */
    int64_t *lease;   /* id of the lease of each job, 0 for none */
    int *last_gpu;    /* host * 256 + gpu of the last loss, or -1 */
    int open;
};

struct sched_units {
    int *home;    /* host that holds a unit's artifact, or -1 */
    int *ordered; /* open orders for each unit */
    bool *held;
    bool unsifted;           /* the queue may contain held units */
    struct int_queue builds; /* builds that wait */
};

struct sched_leases {
    struct sched_lease *list;
    int n, cap, n_late;
    int64_t next_id;
};

struct sched_orders {
    struct order *list; /* all orders ever made; the index is id - 1 */
    int n, cap;
    int open;                 /* not ended and not dropped */
    struct int_queue dropped; /* not reported to the caller yet */
};

struct sched {
    struct sched_limits limits;
    struct sched_jobs jobs;
    struct sched_units units;
    struct sched_leases leases;
    struct sched_orders orders;
    struct sched_host *hosts;
    int turn; /* the host that is asked first, so that all get their share */
};

/* sched_leases.c */
struct sched_lease *sched_lease_new(struct sched *s, int host, int gpu);
/* Returns the host * 256 + gpu that held it, or -1. */
int sched_lease_end(struct sched *s, int64_t id);
struct sched_lease *sched_lease_at_id(struct sched *s, int64_t id);

/* sched_jobs.c */
int sched_n_builds(const struct sched *s); /* the reference included */
int sched_n_jobs(const struct sched *s);
int sched_job_index(const struct sched *s, enum job_stage stage, int unit,
                    int shape);
int sched_unit_of(const struct sched *s, int job);
int sched_shape_of(const struct sched *s, int job);
bool sched_job_apply(struct sched *s, int job, enum job_event event);
bool sched_is_built(const struct sched *s, int unit);
/* A lease for a job; 'gpu' is -1 for a build. */
struct sched_lease *sched_grant(struct sched *s, int job, int host, int gpu);
/* A second lease of the job that 'late' is for. */
struct sched_lease *sched_grant_repeat(struct sched *s, int64_t late, int host,
                                       int gpu);
/* Remove all held units from the queue of builds. */
void sched_sift(struct sched *s);
/* A build that no open measurement needs is settled without being done.  So is
 * the reference, which is needed only while a measurement is open. */
void sched_settle_needless_build(struct sched *s, int unit);
void sched_settle_needless_reference(struct sched *s);
void sched_settle_needless(struct sched *s, int unit); /* both */

/* sched_orders.c */
void sched_orders_room(struct sched *s, int host); /* for all its GPUs */
void sched_orders_host_down(struct sched *s, int host);
bool sched_orders_next(struct sched *s, int host, int gpu,
                       struct sched_lease *out);
/* The unit (or the reference) will not be built: drop the orders that wait for
 * it. */
void sched_orders_doomed(struct sched *s, int unit, const char *why);
void sched_orders_fini(struct sched *s);

#endif
