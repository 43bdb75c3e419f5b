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
 * A LEASED job may have a second lease, its repetition.  If one of the two is
 * lost, it uses up a try, and the job stays LEASED by the other one.  Only a
 * crash that uses up the last try settles the job at once: its process died
 * every time, and the other lease may be that of a host that never answers.
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
    JOB_EV_REPEAT,   /* handed to a second worker, if job_may_repeat() */
    JOB_EV_LOST,     /* the worker died or its lease expired: uses up a try */
    JOB_EV_CRASHED,  /* the worker says that its process died: likewise */
    JOB_EV_REFUSED,  /* the worker refused it: uses no try */
    JOB_EV_VANISHED, /* no host has the artifact any more */
};

struct job {
    enum job_stage stage;
    enum job_state state;
    int tries_left; /* leases still allowed after a loss, or -1: the last try
                     * was lost beside the lease that it has now */
    bool repeated;  /* LEASED twice */
    bool was_lost;  /* FAILED because the last try was lost */
    int losses;     /* leases lost so far */
};

/* Apply 'event' to 'job'. Returns true if the state changed.  Returns false if
 * the job stays LEASED by the other one of two leases; and also, with 'job'
 * untouched, if the event does not apply in this state. */
bool job_apply(struct job *job, enum job_event event);

/* It has one lease, and a loss of a second one would be counted. */
bool job_may_repeat(const struct job *job);

bool job_is_settled(const struct job *job); /* DONE or FAILED */

#endif
