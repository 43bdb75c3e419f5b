/* slurm_answer.h - what squeue says about the jobs of a sweep
 *
 * squeue is asked for plain lines, an element of an array each: what its JSON
 * looks like depends on the version, and before 24.05 it has one entry for all
 * elements that wait.
 * Pure.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_ANSWER_H
#define FA_COORDINATOR_SLURM_SLURM_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* For squeue: job of the array, task, state, run time, start, end, reason.
 * Times are in seconds since 1970 (SLURM_TIME_FORMAT=%s). */
#define SLURM_ANSWER_FLAG "--format=%F|%K|%T|%M|%S|%e|%r"

enum slurm_state {
    SLURM_ABSENT, /* no job */
    SLURM_WAITS,  /* in the queue, or requeued */
    SLURM_RUNS,
    SLURM_ENDED, /* the word says how */
};

struct slurm_job {
    int64_t array; /* the job of the array */
    int task;
    enum slurm_state state;
    int64_t runs_s;  /* since its start */
    char word[24];   /* as Slurm calls the state: RUNNING, NODE_FAIL */
    char reason[64]; /* why it waits; "None" */
    /* In seconds since 1970, 0: not yet, or not known.  What Slurm expects of
     * a job that waits, or of one that runs, is left out. */
    int64_t start_s, end_s;
};

/* Read a whole answer.  Jobs that are no arrays are left out.  'out' is the
 * caller's to free.  ERR_PROTO with the first line that is not of that form. */
int slurm_answer_read(const char *text, struct slurm_job **out, size_t *n,
                      struct err *err);

/* A time in seconds since 1970; 0 for words such as Unknown, N/A, None, and for
 * times of another form. */
int64_t slurm_answer_time(const char *text);

/* A run time of Slurm, [D-][H:]M:S, in seconds; -1: not a time. */
int64_t slurm_answer_seconds(const char *text);

#endif
