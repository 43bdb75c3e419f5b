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
 * doomed when its build fails.  A late result settles a job that is WAITING
 * again or leased to another worker by now.  It also settles a job that failed
 * only because its workers were lost.  DONE and rejected jobs never change,
 * with one exception: a build whose artifact has vanished becomes WAITING
 * again, and the measurements that wait for it become BLOCKED again.
 *
 * Pure: no clock, no socket, no database.  Every change of state goes through
 * job_apply(), so the store and the log see each change once.
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
    JOB_EV_READY,    /* everything it depends on exists */
    JOB_EV_DOOMED,   /* something it depends on will never exist */
    JOB_EV_LEASE,    /* handed to a worker */
    JOB_EV_ADOPT,    /* a worker still holds it from an earlier run */
    JOB_EV_RESULT,   /* it was built, or measured and correct */
    JOB_EV_REJECT,   /* it does not build, launch or compute the right answer */
    JOB_EV_LOST,     /* the worker died or its lease expired: uses up a try */
    JOB_EV_REFUSED,  /* the worker refused it: uses no try */
    JOB_EV_VANISHED, /* no host has the artifact any more */
};

struct job {
    enum job_stage stage;
    enum job_state state;
    int tries_left; /* leases still allowed after a loss, >= 0 */
    bool was_lost;  /* FAILED because the last try was lost */
    int losses;     /* leases lost so far */
};

/* Apply 'event' to 'job'. Returns true if the state changed.  Returns false,
 * and leaves 'job' untouched, if the event does not apply in this state. */
bool job_apply(struct job *job, enum job_event event);

bool job_is_settled(const struct job *job); /* DONE or FAILED */

#endif
