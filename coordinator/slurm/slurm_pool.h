/* slurm_pool.h - which jobs a partition is asked for, from what squeue says
 *
 *   ABSENT --asked--> WAITS --> RUNS --> ended: ABSENT, asked again
 *                       ^--------/  requeued
 *
 * One task of an array is one host.  Slurm forgets jobs and repeats them, so an
 * answer counts as it comes: a task that is missing in SLURM_MISSES answers has
 * no job.  'least' tasks are asked for at once, and one more when none waits
 * and there is work for it, up to 'most': what waits in the queue costs others
 * their place.
 * Pure: the caller asks squeue, and submits.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_POOL_H
#define FA_COORDINATOR_SLURM_SLURM_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/slurm/slurm_answer.h"

#define SLURM_MISSES 3 /* answers without a job that was submitted */
#define SLURM_WASTED 3 /* jobs in a row whose worker never dialled back */
#define SLURM_NEVERS 3 /* answers with a reason that does not go away */
#define SLURM_TEXT_BYTES 200

enum slurm_change {
    SLURM_SAME,
    SLURM_QUEUED,  /* it waits; the text says why */
    SLURM_STARTED, /* its job runs */
    SLURM_LEFT,    /* its job is over; the text says how */
    SLURM_NEVER,   /* it is given up; the text says why */
};

struct slurm_task {
    int64_t array; /* its job; 0: none */
    enum slurm_state state;
    int misses, wasted, nevers;
    bool given_up;
    int64_t runs_s;  /* when that was heard */
    int64_t ended_s; /* its last job, since 1970; 0: not known */
    char reason[64];
    enum slurm_change change; /* in the last answer */
    char text[SLURM_TEXT_BYTES];
};

struct slurm_pool {
    struct slurm_task *tasks; /* [most]; task i of Slurm is tasks[i - 1] */
    int least, most;
    int64_t next_ns; /* no job is submitted before */
    int failures;    /* of sbatch in a row */
    bool has_worked; /* sbatch has, once */
    bool may_grow;   /* beyond 'least' (slurm_use.h) */
};

void slurm_pool_init(struct slurm_pool *pool, int least, int most);
void slurm_pool_fini(struct slurm_pool *pool);

/* An answer: sets 'change' and 'text' of every task. */
void slurm_pool_take(struct slurm_pool *pool, const struct slurm_job *jobs,
                     size_t n);

/* The worker of a task has dialled back: its jobs are good for something. */
void slurm_pool_came(struct slurm_pool *pool, int task);

/* The tasks to submit now, in a form for --array: "1,2,5"; "" if there are
 * none. */
void slurm_pool_wanted(const struct slurm_pool *pool, int64_t now_ns, char *out,
                       size_t size);
/* They were submitted as 'array'. */
void slurm_pool_submitted(struct slurm_pool *pool, const char *wanted,
                          int64_t array);
/* sbatch failed.  The pause grows from 5 s to 5 min.  If it has never worked,
 * all tasks are given up: then true. */
bool slurm_pool_failed(struct slurm_pool *pool, int64_t now_ns);

/* Its host is no longer used: it is not submitted again. */
void slurm_pool_dismiss(struct slurm_pool *pool, int task);

/* How long to wait before squeue is asked again, after so many answers since
 * something changed: 0.5 s, later 10 s. */
int64_t slurm_pool_pause_ms(int answers);

#endif
