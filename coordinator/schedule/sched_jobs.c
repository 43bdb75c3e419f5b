/* Builds and measurements, and the units they belong to. */
#include <stddef.h>

#include "coordinator/schedule/sched_internal.h"

int sched_n_builds(const struct sched *s)
{
    return s->limits.units + 1;
}

int sched_job_index(const struct sched *s, enum job_stage stage, int unit,
                    int shape)
{
    if (stage == JOB_BUILD)
        return unit;
    return sched_n_builds(s) + unit * s->limits.shapes + shape;
}

int sched_n_jobs(const struct sched *s)
{
    return sched_n_builds(s) + s->limits.units * s->limits.shapes;
}

int sched_unit_of(const struct sched *s, int job)
{
    return s->jobs.list[job].stage == JOB_BUILD
               ? job
               : (job - sched_n_builds(s)) / s->limits.shapes;
}

int sched_shape_of(const struct sched *s, int job)
{
    return s->jobs.list[job].stage == JOB_BUILD
               ? 0
               : (job - sched_n_builds(s)) % s->limits.shapes;
}

bool sched_job_apply(struct sched *s, int job, enum job_event event)
{
    bool was = job_is_settled(&s->jobs.list[job]);

    if (!job_apply(&s->jobs.list[job], event))
        return false;
    s->jobs.open += (int)was - (int)job_is_settled(&s->jobs.list[job]);
    return true;
}

bool sched_is_built(const struct sched *s, int unit)
{
    return s->jobs.list[unit].state == JOB_DONE && s->units.home[unit] >= 0;
}

void sched_settle_needless_build(struct sched *s, int unit)
{
    if (unit == s->limits.units || s->jobs.list[unit].state != JOB_WAITING ||
        s->units.ordered[unit] > 0)
        return;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        if (!job_is_settled(
                &s->jobs.list[sched_job_index(s, JOB_MEASURE, unit, shape)]))
            return;
    sched_job_apply(s, unit, JOB_EV_RESULT);
}

void sched_settle_needless_reference(struct sched *s)
{
    struct job *reference = &s->jobs.list[s->limits.units];

    if (s->jobs.open == 1 && s->orders.open == 0 &&
        reference->state == JOB_WAITING)
        sched_job_apply(s, s->limits.units, JOB_EV_RESULT);
}

void sched_settle_needless(struct sched *s, int unit)
{
    sched_settle_needless_build(s, unit);
    sched_settle_needless_reference(s);
}

void sched_sift(struct sched *s)
{
    if (!s->units.unsifted)
        return;
    for (int left = s->units.builds.n; left > 0; left--) {
        int job = int_queue_peek(&s->units.builds, 0);

        int_queue_remove(&s->units.builds, 0);
        if (!s->units.held[job])
            int_queue_push(&s->units.builds, job);
    }
    s->units.unsifted = false;
}

struct sched_lease *sched_grant(struct sched *s, int job, int host, int gpu)
{
    struct sched_lease *lease = sched_lease_new(s, host, gpu);

    lease->stage = s->jobs.list[job].stage;
    lease->unit = sched_unit_of(s, job);
    lease->shape = sched_shape_of(s, job);
    lease->attempt = s->jobs.list[job].losses + 1;
    s->jobs.lease[job] = lease->id;
    return lease;
}

struct sched_lease *sched_grant_repeat(struct sched *s, int64_t late, int host,
                                       int gpu)
{
    struct sched_lease *lease = sched_lease_new(s, host, gpu);
    struct sched_lease *first = sched_lease_at_id(s, late);
    int job = sched_job_index(s, first->stage, first->unit, first->shape);

    sched_job_apply(s, job, JOB_EV_REPEAT);
    lease->stage = first->stage;
    lease->unit = first->unit;
    lease->shape = first->shape;
    lease->attempt = s->jobs.list[job].losses + 2; /* the first is out */
    lease->repeat = first->id;
    first->repeat = lease->id;
    return lease;
}

const struct sched_lease *
sched_lease_of(const struct sched *s, enum job_stage stage, int unit, int shape)
{
    int64_t id = s->jobs.lease[sched_job_index(s, stage, unit, shape)];

    return id ? sched_lease_get(s, id) : NULL;
}

const struct sched_lease *sched_lease_held(const struct sched *s,
                                           enum job_stage stage, int unit,
                                           int shape, int host)
{
    const struct sched_lease *lease = sched_lease_of(s, stage, unit, shape);

    if (lease && lease->host != host)
        lease = lease->repeat ? sched_lease_get(s, lease->repeat) : NULL;
    return lease && lease->host == host ? lease : NULL;
}

const struct job *sched_job(const struct sched *s, enum job_stage stage,
                            int unit, int shape)
{
    return &s->jobs.list[sched_job_index(s, stage, unit, shape)];
}

int sched_home(const struct sched *s, int unit)
{
    return s->units.home[unit];
}
