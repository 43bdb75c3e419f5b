/* sched_state.h - the inside of a sched
 *
 * Private to sched.c (jobs: what a sweep is made of), sched_leases.c (which of
 * them is done where) and sched_orders.c (measurements that somebody asks for
 * besides).
 */
#ifndef FA_COORDINATOR_SCHED_STATE_H
#define FA_COORDINATOR_SCHED_STATE_H

#include "coordinator/fifo.h"
#include "coordinator/sched.h"

enum order_state {
    ORDER_WAITING,
    ORDER_LEASED,
    ORDER_DROPPED, /* and not yet told */
    ORDER_ENDED
};

struct order {
    struct sched_order is;
    enum order_state state;
    int tries_left, losses;
    int64_t lease;   /* 0 for none */
    const char *why; /* it was dropped */
};

struct sched_host {
    bool up, paused;
    int slots, gpus, credit;
    int builds;         /* leases held */
    int *measures;      /* leases held, one count a GPU */
    struct fifo ready;  /* measurements whose artifact lies here */
    struct fifo *asked; /* orders that wait, one queue a GPU */
    bool *rests;        /* a GPU */
    int cap_gpus;       /* in asked and rests */
};

struct sched {
    struct sched_limits limits;
    struct job *jobs;  /* builds of all units, then unit x shape */
    int64_t *lease_of; /* lease id a job holds, 0 for none */
    int *last_gpu;     /* host * 256 + gpu of the last loss, or -1 */
    int *home;         /* host that holds a unit's artifact, or -1 */
    bool *held;        /* units */
    bool unsifted;     /* held ones may stand in the queue */
    struct sched_host *hosts;
    struct fifo builds; /* waiting builds */
    struct sched_lease *leases;
    int n_leases, cap_leases;
    int64_t next_id;
    int open;
    int turn; /* host that is asked first, so that all get their share */

    struct order *orders; /* all there ever were; index is id - 1 */
    int n_orders, cap_orders;
    int open_orders;     /* not ended and not dropped */
    int *ordered;        /* open orders of each unit */
    struct fifo dropped; /* to be told */
};

/* sched.c */
bool sched_job_apply(struct sched *s, int job, enum job_event event);
bool sched_is_built(const struct sched *s, int unit);
/* A lease for a job; on no GPU, -1, for a build. */
struct sched_lease *sched_grant(struct sched *s, int job, int host, int gpu);
/* What is held leaves the queue of builds, all in one go. */
void sched_sift(struct sched *s);
/* What nothing needs any more is settled without being done. */
void sched_settle_needless(struct sched *s, int unit);

/* sched_leases.c */
struct sched_lease *sched_lease_new(struct sched *s, int host, int gpu);
/* Returns the code of the GPU that held it, or -1. */
int sched_lease_end(struct sched *s, int64_t id);

/* sched_orders.c */
void sched_orders_room(struct sched *s, int host); /* for all its GPUs */
bool sched_orders_next(struct sched *s, int host, int gpu,
                       struct sched_lease *out);
/* The unit (or the reference) will not be built: drop the orders that wait. */
void sched_orders_doomed(struct sched *s, int unit, const char *why);
void sched_orders_fini(struct sched *s);

#endif
