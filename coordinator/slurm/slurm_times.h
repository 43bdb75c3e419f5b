/* slurm_times.h - from when to when Slurm had given a node to a task
 *
 * Slurm bills an allocation: from the start of a job to its end.  A job that is
 * requeued has several.  sacct knows all of them where accounting is on;
 * slurmctld knows the last one of each job, for MinJobAge (300 s) after its
 * end, and squeue shows that. Pure.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_TIMES_H
#define FA_COORDINATOR_SLURM_SLURM_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/slurm/slurm_answer.h"

struct err;

/* For sacct: allocations only, each run of a job, times as squeue's. */
#define SLURM_TIMES_FLAG "--format=JobID,State,Start,End"

struct slurm_span {
    int64_t array; /* the job of the array */
    int task;
    int64_t start_s, end_s; /* since 1970; end 0: it runs */
};

struct slurm_times {
    struct slurm_span *list;
    size_t n;
};

void slurm_times_fini(struct slurm_times *times);

/* Add what sacct says.  Jobs that are no arrays, or never started, are left
 * out.  ERR_PROTO with the first line that is not of that form. */
int slurm_times_read(const char *text, struct slurm_times *times,
                     struct err *err);

/* Add what squeue says: spans that sacct does not have, and ends that have not
 * reached its database yet. */
void slurm_times_join(struct slurm_times *times, const struct slurm_job *jobs,
                      size_t n);

#endif
