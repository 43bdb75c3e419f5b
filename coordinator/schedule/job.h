/* job.h - the life of one piece of work: a build, or a measurement
 *
 *   BLOCKED --ready--> WAITING --lease--> LEASED --result--> DONE
 *      |                ^   |  ^             | |
 *      |                |   |  '--refused----' |--reject--> FAILED
 *      |                |   |                  |              ^ ^
 *      |                '---+--- lost ---------'--(no tries)--' |
 *      '--doomed--------------------------------------------- --'
 *
 * A measurement is BLOCKED until its artifact and the reference exist, and
 * doomed when its build fails.  A late result settles a job that is WAITING,
 * or leased elsewhere by now; one that has failed only because its workers
 * were lost is settled by it too.  DONE and rejected jobs never change,
 * except that a build whose artifact has vanished is WAITING again, and the
 * measurements that wait for it are BLOCKED again.
 *
 * Pure: no clock, no socket, no database.  Every change of state goes
 * through job_apply(), so the store and the log see each change once.
 */
#ifndef FA_COORDINATOR_SCHEDULE_JOB_H
#define FA_COORDINATOR_SCHEDULE_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum job_stage {
    JOB_BUILD,
    JOB_MEASURE
};

/* The words of messages and rows. */
const char *job_stage_name(enum job_stage stage);
/* A tool runs where one measures: what is no build is a measurement. */
enum job_stage job_stage_of(const char *name);

enum job_state {
    JOB_BLOCKED,
    JOB_WAITING,
    JOB_LEASED,
    JOB_DONE,
    JOB_FAILED,
};

enum job_event {
    JOB_EV_READY,    /* what it depends on exists */
    JOB_EV_DOOMED,   /* what it depends on never will */
    JOB_EV_LEASE,    /* handed to a worker */
    JOB_EV_ADOPT,    /* a worker still has it from an earlier run */
    JOB_EV_RESULT,   /* built, or measured and right */
    JOB_EV_REJECT,   /* it does not build, launch or compute the answer */
    JOB_EV_LOST,     /* the worker died, or its lease ran out: a try is used */
    JOB_EV_REFUSED,  /* the worker did not take it: no try is used */
    JOB_EV_VANISHED, /* no host has the artifact any more */
};

struct job {
    enum job_stage stage;
    enum job_state state;
    int tries_left; /* leases still allowed after a loss, >= 0 */
    bool was_lost;  /* FAILED because the last try was lost */
    int losses;     /* leases lost so far */
};

/* Move 'job' along.  Returns true when it changed state, false when the event
 * does not apply in this state, in which case 'job' is untouched. */
bool job_apply(struct job *job, enum job_event event);

bool job_is_settled(const struct job *job); /* DONE or FAILED */

#endif
