#include "coordinator/schedule/sched.h"

#include <stdlib.h>

#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/schedule/sched_internal.h"

struct sched *sched_new(struct sched_limits limits)
{
    struct sched *s = mem_new(1, sizeof(*s));
    size_t n;

    s->limits = limits;
    n = (size_t)sched_n_jobs(s);
    s->jobs.list = mem_new(n, sizeof(*s->jobs.list));
    s->jobs.lease = mem_new(n, sizeof(*s->jobs.lease));
    s->jobs.last_gpu = mem_new(n, sizeof(*s->jobs.last_gpu));
    s->units.home = mem_new((size_t)sched_n_builds(s), sizeof(*s->units.home));
    s->units.ordered =
        mem_new((size_t)sched_n_builds(s), sizeof(*s->units.ordered));
    s->units.held = mem_new((size_t)sched_n_builds(s), sizeof(*s->units.held));
    s->hosts = mem_new((size_t)limits.hosts, sizeof(*s->hosts));
    s->leases.next_id = 1;
    for (int i = 0; i < sched_n_jobs(s); i++) {
        s->jobs.list[i].stage = i < sched_n_builds(s) ? JOB_BUILD : JOB_MEASURE;
        s->jobs.list[i].state =
            i < sched_n_builds(s) ? JOB_WAITING : JOB_BLOCKED;
        s->jobs.list[i].tries_left = limits.attempts - 1;
        s->jobs.last_gpu[i] = -1;
    }
    for (int i = 0; i < sched_n_builds(s); i++)
        s->units.home[i] = -1;
    int_queue_push(&s->units.builds, limits.units);
    for (int i = 0; i < limits.units; i++)
        int_queue_push(&s->units.builds, i);
    s->jobs.open = sched_n_jobs(s);
    return s;
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    sched_orders_fini(s);
    for (int i = 0; i < s->limits.hosts; i++) {
        int_queue_fini(&s->hosts[i].ready);
        free(s->hosts[i].measures);
    }
    int_queue_fini(&s->units.builds);
    free(s->jobs.list);
    free(s->jobs.lease);
    free(s->jobs.last_gpu);
    free(s->units.home);
    free(s->units.held);
    free(s->hosts);
    free(s->leases.list);
    free(s);
}

/* The reference is built, and so is the unit: its measurements can start. */
static void release(struct sched *s, int unit)
{
    struct sched_host *home = &s->hosts[s->units.home[unit]];

    for (int shape = 0; shape < s->limits.shapes; shape++) {
        int job = sched_job_index(s, JOB_MEASURE, unit, shape);

        if (sched_job_apply(s, job, JOB_EV_READY))
            int_queue_push(&home->ready, job);
    }
}

static void built(struct sched *s, int unit, int host)
{
    s->units.home[unit] = host;
    if (unit == s->limits.units) {
        for (int u = 0; u < s->limits.units; u++)
            if (sched_is_built(s, u))
                release(s, u);
    } else if (sched_is_built(s, s->limits.units)) {
        release(s, unit);
    }
}

/* A measurement is impossible without its build, and all are without the
 * reference. */
static void doom(struct sched *s, int unit)
{
    int from = unit == s->limits.units ? 0 : unit;
    int to = unit == s->limits.units ? s->limits.units : unit + 1;

    for (int u = from; u < to; u++) {
        for (int shape = 0; shape < s->limits.shapes; shape++)
            sched_job_apply(s, sched_job_index(s, JOB_MEASURE, u, shape),
                            JOB_EV_DOOMED);
        sched_settle_needless_build(s, u);
    }
    sched_orders_doomed(s, unit, "it cannot be built");
}

void sched_settled(struct sched *s, enum job_stage stage, int unit, int shape,
                   bool done)
{
    sched_job_apply(s, sched_job_index(s, stage, unit, shape),
                    done ? JOB_EV_RESULT : JOB_EV_REJECT);
    if (stage == JOB_MEASURE)
        sched_settle_needless(s, unit);
}

void sched_losses(struct sched *s, enum job_stage stage, int unit, int shape,
                  int losses)
{
    struct job *job = &s->jobs.list[sched_job_index(s, stage, unit, shape)];

    job->losses = losses;
    /* Losses of an earlier run always leave a job at least one try. */
    job->tries_left = (int)int64_max(s->limits.attempts - 1 - losses, 0);
}

void sched_built_at(struct sched *s, int unit, int host)
{
    if (!s->units.held[unit] && s->jobs.list[unit].state == JOB_WAITING &&
        sched_job_apply(s, unit, JOB_EV_RESULT))
        built(s, unit, host);
}

/* What waits at its former host may stay in that queue as well: whoever is
 * second finds it leased. */
void sched_moved(struct sched *s, int unit, int host)
{
    if (s->jobs.list[unit].state != JOB_DONE)
        return;
    s->units.home[unit] = host;
    for (int shape = 0; unit < s->limits.units && shape < s->limits.shapes;
         shape++) {
        int job = sched_job_index(s, JOB_MEASURE, unit, shape);

        if (s->jobs.list[job].state == JOB_WAITING)
            int_queue_push(&s->hosts[host].ready, job);
    }
}

void sched_hold(struct sched *s, int unit)
{
    s->units.held[unit] = true;
    s->units.unsifted = true;
}

bool sched_is_held(const struct sched *s, int unit)
{
    return s->units.held[unit];
}

void sched_release(struct sched *s, int unit)
{
    sched_sift(s);
    if (!s->units.held[unit])
        return;
    s->units.held[unit] = false;
    if (s->jobs.list[unit].state != JOB_WAITING)
        return;
    if (s->units.ordered[unit] > 0)
        int_queue_push_front(&s->units.builds, unit);
    else
        int_queue_push(&s->units.builds, unit);
}

void sched_drop(struct sched *s, int unit)
{
    if (!s->units.held[unit])
        return;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        sched_job_apply(s, sched_job_index(s, JOB_MEASURE, unit, shape),
                        JOB_EV_DOOMED);
    sched_job_apply(s, unit, JOB_EV_RESULT);
    sched_orders_doomed(s, unit, "its configuration is no longer wanted");
    sched_settle_needless_reference(s);
}

void sched_host_up(struct sched *s, int host, int slots, int gpus,
                   int measure_credit)
{
    struct sched_host *h = &s->hosts[host];

    h->up = true;
    h->paused = false;
    h->slots = slots;
    h->measures = mem_grow(h->measures, (size_t)gpus, sizeof(*h->measures));
    for (int i = h->gpus; i < gpus; i++)
        h->measures[i] = 0;
    h->gpus = gpus;
    h->credit = measure_credit;
    sched_orders_room(s, host);
}

void sched_host_credit(struct sched *s, int host, int measure_credit)
{
    s->hosts[host].credit = measure_credit;
}

void sched_host_pause(struct sched *s, int host, bool paused)
{
    s->hosts[host].paused = paused;
}

void sched_gpu_rest(struct sched *s, int host, int gpu, bool rests)
{
    s->hosts[host].rests[gpu] = rests;
}

bool sched_adopt(struct sched *s, enum job_stage stage, int unit, int shape,
                 int host, int gpu, struct sched_lease *out)
{
    int job = sched_job_index(s, stage, unit, shape);

    if (!sched_job_apply(s, job, JOB_EV_ADOPT))
        return false;
    *out = *sched_grant(s, job, host, stage == JOB_BUILD ? -1 : gpu);
    return true;
}

/* A WAITING job is always in a queue.  If the artifact of a measurement has
 * vanished meanwhile, the measurement is BLOCKED until it is built again. */
static void requeue(struct sched *s, int job)
{
    int unit = sched_unit_of(s, job);

    if (s->jobs.list[job].stage == JOB_BUILD)
        int_queue_push_front(&s->units.builds, job);
    else if (sched_is_built(s, unit) && sched_is_built(s, s->limits.units))
        int_queue_push_front(&s->hosts[s->units.home[unit]].ready, job);
    else
        sched_job_apply(s, job, JOB_EV_VANISHED);
}

/* The job changed state: end its leases. */
static void settled_or_queued(struct sched *s, int job, int host)
{
    const struct job *j = &s->jobs.list[job];
    int unit = sched_unit_of(s, job);

    if (j->state == JOB_WAITING)
        requeue(s, job);
    if (j->stage == JOB_BUILD && j->state == JOB_DONE)
        built(s, unit, host);
    if (j->stage == JOB_BUILD && j->state == JOB_FAILED)
        doom(s, unit);
    if (j->stage == JOB_MEASURE)
        sched_settle_needless(s, unit);
}

bool sched_apply(struct sched *s, enum job_stage stage, int unit, int shape,
                 enum job_event event, int host)
{
    int job = sched_job_index(s, stage, unit, shape);
    const struct sched_lease *lease = sched_lease_of(s, stage, unit, shape);

    if (lease && lease->repeat)
        sched_lease_end(s, lease->repeat);
    sched_lease_end(s, s->jobs.lease[job]);
    s->jobs.lease[job] = 0;
    if (!sched_job_apply(s, job, event))
        return false;
    settled_or_queued(s, job, host);
    return true;
}

bool sched_lease_apply(struct sched *s, int64_t id, enum job_event event)
{
    const struct sched_lease *found = sched_lease_get(s, id);
    struct sched_lease lease;
    int job, gpu;

    if (!found || found->order)
        return false;
    lease = *found;
    job = sched_job_index(s, lease.stage, lease.unit, lease.shape);
    gpu = sched_lease_end(s, id);
    if (event == JOB_EV_LOST || event == JOB_EV_CRASHED)
        s->jobs.last_gpu[job] = gpu;
    if (!sched_job_apply(s, job, event)) {
        if (lease.repeat)
            sched_lease_at_id(s, lease.repeat)->repeat = 0;
        s->jobs.lease[job] = lease.repeat;
        return false;
    }
    sched_lease_end(s, lease.repeat);
    s->jobs.lease[job] = 0;
    settled_or_queued(s, job, lease.host);
    return true;
}

static void block(struct sched *s, int unit)
{
    for (int shape = 0; shape < s->limits.shapes; shape++)
        sched_job_apply(s, sched_job_index(s, JOB_MEASURE, unit, shape),
                        JOB_EV_VANISHED);
}

void sched_vanished(struct sched *s, int unit)
{
    if (!sched_job_apply(s, unit, JOB_EV_VANISHED))
        return;
    s->units.home[unit] = -1;
    int_queue_push_front(&s->units.builds, unit);
    if (unit < s->limits.units)
        block(s, unit);
    else
        for (int u = 0; u < s->limits.units; u++)
            block(s, u);
}

bool sched_is_needed(const struct sched *s, int unit)
{
    if (s->units.ordered[unit] > 0)
        return true;
    if (unit == s->limits.units)
        return s->jobs.open > 0 || s->orders.open > 0;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        if (!job_is_settled(
                &s->jobs.list[sched_job_index(s, JOB_MEASURE, unit, shape)]))
            return true;
    return false;
}

void sched_host_down(struct sched *s, int host)
{
    s->hosts[host].up = false;
    sched_orders_host_down(s, host);
    for (int unit = 0; unit < sched_n_builds(s); unit++) {
        if (s->units.home[unit] != host)
            continue;
        if (sched_is_needed(s, unit))
            sched_vanished(s, unit);
        s->units.home[unit] = -1; /* an order rebuilds it if needed */
    }
}

int sched_open_jobs(const struct sched *s)
{
    return s->jobs.open + s->orders.open;
}
