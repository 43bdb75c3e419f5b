/* sched_leases.h - what a sched has handed out (sched.h)
 *
 * A lease is a build or a measurement that a host was asked for and has not
 * answered yet.
 */
#ifndef FA_COORDINATOR_SCHEDULE_SCHED_LEASES_H
#define FA_COORDINATOR_SCHEDULE_SCHED_LEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/schedule/job.h"

struct sched;

enum sched_purpose {
    SCHED_SCREEN, /* the one measurement that each configuration has */
    SCHED_AGAIN,  /* the same again, because its time is in doubt */
    SCHED_CANARY,
    SCHED_CONFIRM,
    SCHED_EXTERNAL, /* a run of an external baseline; any unit */
    SCHED_PROFILE,  /* a configuration under a profiler */
};
const char *sched_purpose_name(enum sched_purpose purpose); /* as in results */
bool sched_is_tool(enum sched_purpose purpose);             /* runs a command */

struct sched_lease {
    int64_t id; /* unique in this sched, > 0 */
    enum job_stage stage;
    int unit;
    int shape; /* 0 for a build */
    int host;
    int gpu;     /* index on its host, -1 for a build */
    int attempt; /* 1 is the first */

    int64_t order; /* id of the order; 0 if it is not an order */
    enum sched_purpose purpose;
    int round;
    int pass;   /* the pass of the order */
    bool fresh; /* by a runner process that has measured nothing yet */

    bool late;      /* another host may repeat it (sched_lease_late) */
    int64_t repeat; /* the other lease of the same job, 0 for none */
};

/* The lease with this id, or the one that a job holds; or NULL.  Valid until
 * the next call that changes the sched. */
const struct sched_lease *sched_lease_get(const struct sched *sched,
                                          int64_t id);
const struct sched_lease *sched_lease_of(const struct sched *sched,
                                         enum job_stage stage, int unit,
                                         int shape);
/* Of the leases of this job, the one on this host, even if it is the
 * repetition; or NULL. */
const struct sched_lease *sched_lease_held(const struct sched *sched,
                                           enum job_stage stage, int unit,
                                           int shape, int host);
/* Any lease of this host, or NULL: call it to end them one by one. */
const struct sched_lease *sched_lease_on(const struct sched *sched, int host);
/* Lease 'i' of those handed out, in no particular order; NULL past the last. */
const struct sched_lease *sched_lease_at(const struct sched *sched, int i);

/* The lease takes longer than such work usually does: an idle host may repeat
 * it. */
void sched_lease_late(struct sched *sched, int64_t id);

int sched_leases(const struct sched *sched); /* handed out now */

/* Leases of a GPU, the running one included.  While nothing is known, three
 * that wait for 50 ms each cover a round trip of 150 ms. */
#define SCHED_CREDIT 4
/* As many as cover it with measurements that take so long, but no fewer than
 * SCHED_CREDIT; 0: not known.  'most' is what the worker takes.  Beyond
 * SCHED_CREDIT, a GPU gets what is left when there are as many for each GPU. */
int sched_credit(double measure_ns, int most);

#endif
