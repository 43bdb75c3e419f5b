#include "coordinator/sched.h"

#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/sched_state.h"

static int n_builds(const struct sched *s)
{
    return s->limits.units + 1;
}

static int job_index(const struct sched *s, enum job_stage stage, int unit,
                     int shape)
{
    if (stage == JOB_BUILD)
        return unit;
    return n_builds(s) + unit * s->limits.shapes + shape;
}

static int n_jobs(const struct sched *s)
{
    return n_builds(s) + s->limits.units * s->limits.shapes;
}

static int unit_of(const struct sched *s, int job)
{
    return job < n_builds(s) ? job : (job - n_builds(s)) / s->limits.shapes;
}

static int shape_of(const struct sched *s, int job)
{
    return job < n_builds(s) ? 0 : (job - n_builds(s)) % s->limits.shapes;
}

struct sched *sched_new(struct sched_limits limits)
{
    struct sched *s = mem_new(1, sizeof(*s));
    size_t n;

    s->limits = limits;
    n = (size_t)n_jobs(s);
    s->jobs = mem_new(n, sizeof(*s->jobs));
    s->lease_of = mem_new(n, sizeof(*s->lease_of));
    s->last_gpu = mem_new(n, sizeof(*s->last_gpu));
    s->home = mem_new((size_t)n_builds(s), sizeof(*s->home));
    s->ordered = mem_new((size_t)n_builds(s), sizeof(*s->ordered));
    s->held = mem_new((size_t)n_builds(s), sizeof(*s->held));
    s->hosts = mem_new((size_t)limits.hosts, sizeof(*s->hosts));
    s->next_id = 1;
    for (int i = 0; i < n_jobs(s); i++) {
        s->jobs[i].stage = i < n_builds(s) ? JOB_BUILD : JOB_MEASURE;
        s->jobs[i].state = i < n_builds(s) ? JOB_WAITING : JOB_BLOCKED;
        s->jobs[i].tries_left = limits.attempts - 1;
        s->last_gpu[i] = -1;
    }
    for (int i = 0; i < n_builds(s); i++)
        s->home[i] = -1;
    fifo_push(&s->builds, limits.units);
    for (int i = 0; i < limits.units; i++)
        fifo_push(&s->builds, i);
    s->open = n_jobs(s);
    return s;
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    sched_orders_fini(s);
    for (int i = 0; i < s->limits.hosts; i++) {
        fifo_fini(&s->hosts[i].ready);
        free(s->hosts[i].measures);
    }
    fifo_fini(&s->builds);
    free(s->jobs);
    free(s->lease_of);
    free(s->last_gpu);
    free(s->home);
    free(s->held);
    free(s->hosts);
    free(s->leases);
    free(s);
}

bool sched_job_apply(struct sched *s, int job, enum job_event event)
{
    bool was = job_is_settled(&s->jobs[job]);

    if (!job_apply(&s->jobs[job], event))
        return false;
    s->open += (int)was - (int)job_is_settled(&s->jobs[job]);
    return true;
}

/* The reference is built; so is the unit: its measurements can start. */
static void release(struct sched *s, int unit)
{
    struct sched_host *home = &s->hosts[s->home[unit]];

    for (int shape = 0; shape < s->limits.shapes; shape++) {
        int job = job_index(s, JOB_MEASURE, unit, shape);

        if (sched_job_apply(s, job, JOB_EV_READY))
            fifo_push(&home->ready, job);
    }
}

bool sched_is_built(const struct sched *s, int unit)
{
    return s->jobs[unit].state == JOB_DONE && s->home[unit] >= 0;
}

static void built(struct sched *s, int unit, int host)
{
    s->home[unit] = host;
    if (unit == s->limits.units) {
        for (int u = 0; u < s->limits.units; u++)
            if (sched_is_built(s, u))
                release(s, u);
    } else if (sched_is_built(s, s->limits.units)) {
        release(s, unit);
    }
}

/* A build that no open measurement needs is settled without being done. */
static void settle_needless_build(struct sched *s, int unit)
{
    if (unit == s->limits.units || s->jobs[unit].state != JOB_WAITING ||
        s->ordered[unit] > 0)
        return;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        if (!job_is_settled(&s->jobs[job_index(s, JOB_MEASURE, unit, shape)]))
            return;
    sched_job_apply(s, unit, JOB_EV_RESULT);
}

/* Without its build a measurement cannot be; without the reference, none. */
static void doom(struct sched *s, int unit)
{
    int from = unit == s->limits.units ? 0 : unit;
    int to = unit == s->limits.units ? s->limits.units : unit + 1;

    for (int u = from; u < to; u++) {
        for (int shape = 0; shape < s->limits.shapes; shape++)
            sched_job_apply(s, job_index(s, JOB_MEASURE, u, shape),
                            JOB_EV_DOOMED);
        settle_needless_build(s, u);
    }
    sched_orders_doomed(s, unit, "it cannot be built");
}

/* The reference is needed only while a measurement is open. */
static void settle_needless_reference(struct sched *s)
{
    struct job *reference = &s->jobs[s->limits.units];

    if (s->open == 1 && s->open_orders == 0 && reference->state == JOB_WAITING)
        sched_job_apply(s, s->limits.units, JOB_EV_RESULT);
}

void sched_settle_needless(struct sched *s, int unit)
{
    settle_needless_build(s, unit);
    settle_needless_reference(s);
}

void sched_settled(struct sched *s, enum job_stage stage, int unit, int shape,
                   bool done)
{
    sched_job_apply(s, job_index(s, stage, unit, shape),
                    done ? JOB_EV_RESULT : JOB_EV_REJECT);
    if (stage == JOB_MEASURE)
        sched_settle_needless(s, unit);
}

void sched_losses(struct sched *s, enum job_stage stage, int unit, int shape,
                  int losses)
{
    struct job *job = &s->jobs[job_index(s, stage, unit, shape)];

    job->losses = losses;
    /* An earlier run's losses never leave a job without a single try. */
    job->tries_left = s->limits.attempts - 1 - losses;
    if (job->tries_left < 0)
        job->tries_left = 0;
}

void sched_built_at(struct sched *s, int unit, int host)
{
    if (!s->held[unit] && s->jobs[unit].state == JOB_WAITING &&
        sched_job_apply(s, unit, JOB_EV_RESULT))
        built(s, unit, host);
}

void sched_hold(struct sched *s, int unit)
{
    s->held[unit] = true;
    s->unsifted = true;
}

void sched_sift(struct sched *s)
{
    int kept = 0;

    for (int i = 0; s->unsifted && i < s->builds.n; i++) {
        int job = fifo_peek(&s->builds, i);

        if (!s->held[job])
            s->builds.items[(s->builds.head + kept++) % s->builds.cap] = job;
    }
    if (s->unsifted)
        s->builds.n = kept;
    s->unsifted = false;
}

void sched_release(struct sched *s, int unit)
{
    sched_sift(s);
    if (!s->held[unit])
        return;
    s->held[unit] = false;
    if (s->jobs[unit].state != JOB_WAITING)
        return;
    if (s->ordered[unit] > 0)
        fifo_push_front(&s->builds, unit);
    else
        fifo_push(&s->builds, unit);
}

void sched_drop(struct sched *s, int unit)
{
    if (!s->held[unit])
        return;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        sched_job_apply(s, job_index(s, JOB_MEASURE, unit, shape),
                        JOB_EV_DOOMED);
    sched_job_apply(s, unit, JOB_EV_RESULT);
    sched_orders_doomed(s, unit, "nobody wants its unit any more");
    settle_needless_reference(s);
}

void sched_host_up(struct sched *s, int host, int slots, int gpus,
                   int measure_credit)
{
    struct sched_host *h = &s->hosts[host];

    h->up = true;
    h->paused = false;
    h->slots = slots;
    if (gpus > h->gpus) {
        h->measures = mem_grow(h->measures, (size_t)gpus, sizeof(*h->measures));
        for (int i = h->gpus; i < gpus; i++)
            h->measures[i] = 0;
    }
    h->gpus = gpus;
    h->credit = measure_credit;
    sched_orders_room(s, host);
}

void sched_host_pause(struct sched *s, int host, bool paused)
{
    s->hosts[host].paused = paused;
}

void sched_gpu_rest(struct sched *s, int host, int gpu, bool rests)
{
    s->hosts[host].rests[gpu] = rests;
}

struct sched_lease *sched_grant(struct sched *s, int job, int host, int gpu)
{
    struct sched_lease *lease = sched_lease_new(s, host, gpu);

    lease->stage = s->jobs[job].stage;
    lease->unit = unit_of(s, job);
    lease->shape = shape_of(s, job);
    lease->attempt = s->jobs[job].losses + 1;
    s->lease_of[job] = lease->id;
    return lease;
}

bool sched_adopt(struct sched *s, enum job_stage stage, int unit, int shape,
                 int host, int gpu, struct sched_lease *out)
{
    int job = job_index(s, stage, unit, shape);

    if (!sched_job_apply(s, job, JOB_EV_ADOPT))
        return false;
    *out = *sched_grant(s, job, host, stage == JOB_BUILD ? -1 : gpu);
    return true;
}

const struct sched_lease *
sched_lease_of(const struct sched *s, enum job_stage stage, int unit, int shape)
{
    int64_t id = s->lease_of[job_index(s, stage, unit, shape)];

    return id ? sched_lease_get(s, id) : NULL;
}

static void requeue(struct sched *s, int job)
{
    if (s->jobs[job].stage == JOB_BUILD)
        fifo_push_front(&s->builds, job);
    else if (s->home[unit_of(s, job)] >= 0)
        fifo_push_front(&s->hosts[s->home[unit_of(s, job)]].ready, job);
}

bool sched_apply(struct sched *s, enum job_stage stage, int unit, int shape,
                 enum job_event event, int host)
{
    int job = job_index(s, stage, unit, shape);
    int gpu = sched_lease_end(s, s->lease_of[job]);

    s->lease_of[job] = 0;
    if (!sched_job_apply(s, job, event))
        return false;
    if (event == JOB_EV_LOST)
        s->last_gpu[job] = gpu;
    if (s->jobs[job].state == JOB_WAITING)
        requeue(s, job);
    if (stage == JOB_BUILD && s->jobs[job].state == JOB_DONE)
        built(s, unit, host);
    if (stage == JOB_BUILD && s->jobs[job].state == JOB_FAILED)
        doom(s, unit);
    if (stage == JOB_MEASURE)
        sched_settle_needless(s, unit);
    return true;
}

static void block(struct sched *s, int unit)
{
    for (int shape = 0; shape < s->limits.shapes; shape++)
        sched_job_apply(s, job_index(s, JOB_MEASURE, unit, shape),
                        JOB_EV_VANISHED);
}

void sched_vanished(struct sched *s, int unit)
{
    if (!sched_job_apply(s, unit, JOB_EV_VANISHED))
        return;
    s->home[unit] = -1;
    fifo_push_front(&s->builds, unit);
    if (unit < s->limits.units)
        block(s, unit);
    else
        for (int u = 0; u < s->limits.units; u++)
            block(s, u);
}

static bool is_needed(const struct sched *s, int unit)
{
    if (s->ordered[unit] > 0)
        return true;
    if (unit == s->limits.units)
        return s->open > 0 || s->open_orders > 0;
    for (int shape = 0; shape < s->limits.shapes; shape++)
        if (!job_is_settled(&s->jobs[job_index(s, JOB_MEASURE, unit, shape)]))
            return true;
    return false;
}

void sched_host_down(struct sched *s, int host)
{
    s->hosts[host].up = false;
    for (int gpu = 0; gpu < s->hosts[host].gpus; gpu++)
        sched_orders_drop(s, host, gpu, "its host is gone");
    for (int unit = 0; unit < n_builds(s); unit++) {
        if (s->home[unit] != host)
            continue;
        if (is_needed(s, unit))
            sched_vanished(s, unit);
        s->home[unit] = -1; /* should an order need it yet, it is built */
    }
}

const struct job *sched_job(const struct sched *s, enum job_stage stage,
                            int unit, int shape)
{
    return &s->jobs[job_index(s, stage, unit, shape)];
}

int sched_home(const struct sched *s, int unit)
{
    return s->home[unit];
}

int sched_open_jobs(const struct sched *s)
{
    return s->open + s->open_orders;
}
