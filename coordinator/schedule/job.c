#include "coordinator/schedule/job.h"

#include <stddef.h>
#include <string.h>

static const char *const stages[] = {
    [JOB_BUILD] = "build",
    [JOB_MEASURE] = "measure",
};

const char *job_stage_name(enum job_stage stage)
{
    return stages[stage];
}

enum job_stage job_stage_of(const char *name)
{
    return strcmp(name, stages[JOB_BUILD]) == 0 ? JOB_BUILD : JOB_MEASURE;
}

static bool vanish(struct job *job)
{
    if (job->stage == JOB_BUILD && job->state == JOB_DONE)
        job->state = JOB_WAITING;
    else if (job->stage == JOB_MEASURE && job->state == JOB_WAITING)
        job->state = JOB_BLOCKED;
    else
        return false;
    return true;
}

static const struct step {
    enum job_state from;
    enum job_event on;
    enum job_state to;
} steps[] = {
    { JOB_BLOCKED, JOB_EV_READY, JOB_WAITING },
    { JOB_BLOCKED, JOB_EV_DOOMED, JOB_FAILED },
    { JOB_BLOCKED, JOB_EV_ADOPT, JOB_LEASED },
    { JOB_BLOCKED, JOB_EV_RESULT, JOB_DONE }, /* late, from a past run */
    { JOB_BLOCKED, JOB_EV_REJECT, JOB_FAILED },
    { JOB_WAITING, JOB_EV_LEASE, JOB_LEASED },
    { JOB_WAITING, JOB_EV_ADOPT, JOB_LEASED },
    { JOB_WAITING, JOB_EV_DOOMED, JOB_FAILED },
    { JOB_WAITING, JOB_EV_RESULT, JOB_DONE },
    { JOB_WAITING, JOB_EV_REJECT, JOB_FAILED },
    { JOB_LEASED, JOB_EV_RESULT, JOB_DONE },
    { JOB_LEASED, JOB_EV_REJECT, JOB_FAILED },
    { JOB_LEASED, JOB_EV_LOST, JOB_WAITING },
    { JOB_LEASED, JOB_EV_CRASHED, JOB_WAITING },
    { JOB_LEASED, JOB_EV_REFUSED, JOB_WAITING },
};

static bool repeat(struct job *job)
{
    if (!job_may_repeat(job))
        return false;
    job->repeated = true;
    return true;
}

/* One of two leases ends without a result: does the job stay with the other? */
static bool stays_leased(struct job *job, enum job_event event)
{
    bool crashed = event == JOB_EV_CRASHED, lost = event == JOB_EV_LOST;

    if ((!crashed && !lost && event != JOB_EV_REFUSED) ||
        (crashed && job->tries_left == 0))
        return false;
    job->repeated = false;
    job->losses += crashed || lost;
    job->tries_left -= crashed || lost;
    return true;
}

static void lose(struct job *job)
{
    job->losses++;
    if (job->tries_left > 0) {
        job->tries_left--;
    } else {
        job->state = JOB_FAILED;
        job->was_lost = true;
    }
}

bool job_apply(struct job *job, enum job_event event)
{
    if (job->state == JOB_FAILED && job->was_lost &&
        (event == JOB_EV_RESULT || event == JOB_EV_REJECT)) {
        job->was_lost = false;
        job->state = event == JOB_EV_RESULT ? JOB_DONE : JOB_FAILED;
        return true;
    }
    if (event == JOB_EV_VANISHED)
        return vanish(job);
    if (event == JOB_EV_REPEAT)
        return repeat(job);
    if (job->repeated && stays_leased(job, event))
        return false;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i].from != job->state || steps[i].on != event)
            continue;
        job->state = steps[i].to;
        job->repeated = false;
        if (event == JOB_EV_LOST || event == JOB_EV_CRASHED)
            lose(job);
        return true;
    }
    return false;
}

bool job_may_repeat(const struct job *job)
{
    return job->state == JOB_LEASED && !job->repeated && job->tries_left >= 0;
}

bool job_is_settled(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_FAILED;
}
