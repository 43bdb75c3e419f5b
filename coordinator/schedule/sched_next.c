/* Which host takes what next. */
#include <stddef.h>

#include "coordinator/schedule/sched_internal.h"

/* Some host has its artifact, and some host has the reference. */
static bool is_measurable(const struct sched *s, int unit)
{
    return sched_is_built(s, unit) && sched_is_built(s, s->limits.units);
}

/* GPUs of a host that take screening measurements. */
static int gpus_at_work(const struct sched_host *h)
{
    int n = 0;

    for (int gpu = 0; h->up && !h->paused && gpu < h->gpus; gpu++)
        n += !h->rests[gpu];
    return n;
}

static int other_gpus(const struct sched *s, int host, int gpu)
{
    int n = 0;

    for (int h = 0; h < s->limits.hosts; h++)
        n += gpus_at_work(&s->hosts[h]);
    return n - (s->hosts[host].up && gpu >= 0 ? 1 : 0);
}

/* Position in 'q' of the first job that this GPU should take.  It avoids the
 * job that it has just failed to finish, if there is another GPU to try. */
static int choose(const struct sched *s, const struct int_queue *q, int host,
                  int gpu)
{
    for (int i = 0; i < q->n; i++) {
        int job = int_queue_peek(q, i);

        if (s->jobs.last_gpu[job] != host * 256 + gpu ||
            other_gpus(s, host, gpu) == 0)
            return i;
    }
    return -1;
}

/* Position in the queue of 'other' of a job that the only working GPU of
 * 'other' has just failed to finish, so that a GPU elsewhere takes it; or
 * -1. */
static int left_over(const struct sched *s, int other, int host, int gpu)
{
    const struct sched_host *h = &s->hosts[other];

    for (int i = 0; gpus_at_work(h) == 1 && i < h->ready.n; i++) {
        int last = s->jobs.last_gpu[int_queue_peek(&h->ready, i)];

        if (last >= 0 && last / 256 == other && last % 256 < h->gpus &&
            !h->rests[last % 256] && last != host * 256 + gpu)
            return i;
    }
    return -1;
}

/* Measurements that wait on hosts without a GPU, beyond one for each idle GPU:
 * a GPU that is busy may have them ahead, so that it never waits for an
 * artifact. */
static int work_ahead(const struct sched *s)
{
    int n = 0;

    for (int i = 0; i < s->limits.hosts; i++) {
        const struct sched_host *h = &s->hosts[i];

        n += h->up && !h->paused && h->gpus == 0 ? h->ready.n : 0;
        for (int gpu = 0; h->up && !h->paused && gpu < h->gpus; gpu++)
            n -= !h->rests[gpu] && h->measures[gpu] == 0;
    }
    return n;
}

/* Where a GPU of 'host' finds work: on its own host, otherwise on the host that
 * has the most waiting beyond what its own GPUs take.  If the GPU is busy,
 * work stays where there are GPUs. */
static struct int_queue *source_for(struct sched *s, int host, int gpu,
                                    bool ahead, int *at)
{
    bool busy = s->hosts[host].measures[gpu] > 0;
    struct int_queue *best = NULL;
    int most = 0;

    *at = choose(s, &s->hosts[host].ready, host, gpu);
    if (*at >= 0)
        return &s->hosts[host].ready;
    if (busy && !ahead)
        return NULL;
    for (int h = 0; h < s->limits.hosts; h++) {
        struct sched_host *other = &s->hosts[h];
        int spare = other->ready.n - gpus_at_work(other);
        int i = choose(s, &other->ready, host, gpu);

        if (busy && (!other->up || other->paused || other->gpus > 0))
            continue;
        if (spare <= 0 && (i = left_over(s, h, host, gpu)) >= 0)
            spare = 1;
        if (i >= 0 && spare > most) {
            most = spare;
            best = &other->ready;
            *at = i;
        }
    }
    return best;
}

/* The oldest late lease of this stage on another host whose job may be
 * repeated: this idle host does so. */
static bool next_repeat(struct sched *s, enum job_stage stage, int host,
                        int gpu, struct sched_lease *out)
{
    const struct sched_lease *oldest = NULL, *lease;

    if (s->leases.n_late == 0)
        return false;
    for (int i = 0; (lease = sched_lease_at(s, i)); i++) {
        if (lease->late && lease->stage == stage &&
            job_may_repeat(
                sched_job(s, lease->stage, lease->unit, lease->shape)) &&
            lease->host != host && (!oldest || lease->id < oldest->id) &&
            (stage == JOB_BUILD || is_measurable(s, lease->unit)))
            oldest = lease;
    }
    if (!oldest)
        return false;
    *out = *sched_grant_repeat(s, oldest->id, host, gpu);
    return true;
}

static bool next_on(struct sched *s, int host, int gpu, bool ahead,
                    struct sched_lease *out)
{
    struct sched_host *h = &s->hosts[host];
    struct int_queue *q;
    int at, job;

    if (sched_orders_next(s, host, gpu, out))
        return true;
    if (h->rests[gpu])
        return false;
    while ((q = source_for(s, host, gpu, ahead, &at)) != NULL) {
        job = int_queue_peek(q, at);
        int_queue_remove(q, at);
        if (!sched_job_apply(s, job, JOB_EV_LEASE))
            continue; /* it was settled */
        *out = *sched_grant(s, job, host, gpu);
        return true;
    }
    return h->measures[gpu] == 0 && next_repeat(s, JOB_MEASURE, host, gpu, out);
}

/* What a GPU should always have, however much it may hold. */
static int due_to(const struct sched_host *h)
{
    return h->credit < SCHED_CREDIT ? h->credit : SCHED_CREDIT;
}

/* Is so much built already that no GPU will soon wait for a build? */
static bool is_supplied(const struct sched *s)
{
    int ready = 0, due = 0;

    for (int i = 0; i < s->limits.hosts; i++) {
        ready += s->hosts[i].ready.n;
        due += gpus_at_work(&s->hosts[i]) * due_to(&s->hosts[i]);
    }
    return due > 0 && ready >= due;
}

/* The GPU with the fewest leases is first; of equals, the one after the GPU
 * that got the last lease.  While builds decide, all are without work most of
 * the time, and the first of them would get nearly everything. */
static bool next_measure(struct sched *s, int host, bool ahead, bool supplied,
                         struct sched_lease *out)
{
    struct sched_host *h = &s->hosts[host];
    /* what one GPU has, no other one takes */
    int most = supplied ? h->credit : due_to(h);

    for (int held = 0; held < most; held++)
        for (int i = 0; i < h->gpus; i++) {
            int gpu = (h->turn + i) % h->gpus;

            if (h->measures[gpu] != held || !next_on(s, host, gpu, ahead, out))
                continue;
            h->turn = (gpu + 1) % h->gpus;
            return true;
        }
    return false;
}

static bool next_build(struct sched *s, int host, struct sched_lease *out)
{
    struct sched_host *h = &s->hosts[host];

    sched_sift(s);
    while (h->slots > 0 && h->builds < h->slots + 1 && s->units.builds.n > 0) {
        int job = int_queue_peek(&s->units.builds, 0);

        int_queue_remove(&s->units.builds, 0);
        if (!sched_job_apply(s, job, JOB_EV_LEASE))
            continue; /* settled while it waited */
        *out = *sched_grant(s, job, host, -1);
        return true;
    }
    return h->builds < h->slots && next_repeat(s, JOB_BUILD, host, -1, out);
}

bool sched_next(struct sched *s, struct sched_lease *out)
{
    bool ahead = work_ahead(s) > 0, supplied = is_supplied(s);

    for (int i = 0; i < s->limits.hosts; i++) {
        int host = (s->turn + i) % s->limits.hosts;
        const struct sched_host *h = &s->hosts[host];

        if (!h->up || h->paused)
            continue;
        if (next_measure(s, host, ahead, supplied, out) ||
            next_build(s, host, out)) {
            s->turn = (host + 1) % s->limits.hosts;
            return true;
        }
    }
    return false;
}

static bool has_ready(const struct sched *s)
{
    for (int i = 0; i < s->limits.hosts; i++)
        if (s->hosts[i].ready.n > 0)
            return true;
    return s->leases.n_late > 0;
}

/* A GPU with less than half of what is due to it may be done before more comes.
 */
static bool has_idle_gpu(const struct sched_host *h, bool ready)
{
    for (int gpu = 0; gpu < h->gpus; gpu++)
        if (2 * h->measures[gpu] < due_to(h) &&
            (h->asked[gpu].n > 0 || (ready && !h->rests[gpu])))
            return true;
    return false;
}

bool sched_is_idle(const struct sched *s)
{
    bool ready = has_ready(s);
    bool builds =
        (s->units.builds.n > 0 && !is_supplied(s)) || s->leases.n_late > 0;

    for (int i = 0; i < s->limits.hosts; i++) {
        const struct sched_host *h = &s->hosts[i];

        if (h->up && !h->paused &&
            ((builds && h->builds < h->slots) || has_idle_gpu(h, ready)))
            return true;
    }
    return false;
}
