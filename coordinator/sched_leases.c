#include "coordinator/sched.h"

#include "common/mem.h"
#include "coordinator/sched_state.h"

/* ---- those there are ---- */

struct sched_lease *sched_lease_new(struct sched *s, int host, int gpu)
{
    struct sched_lease *lease;

    if (s->n_leases == s->cap_leases) {
        s->cap_leases = s->cap_leases ? s->cap_leases * 2 : 64;
        s->leases =
            mem_grow(s->leases, (size_t)s->cap_leases, sizeof(*s->leases));
    }
    lease = &s->leases[s->n_leases++];
    *lease =
        (struct sched_lease){ .id = s->next_id++, .host = host, .gpu = gpu };
    if (gpu >= 0 && gpu < s->hosts[host].gpus)
        s->hosts[host].measures[gpu]++;
    else if (gpu < 0)
        s->hosts[host].builds++;
    return lease;
}

const struct sched_lease *sched_lease_get(const struct sched *s, int64_t id)
{
    for (int i = 0; i < s->n_leases; i++)
        if (s->leases[i].id == id)
            return &s->leases[i];
    return NULL;
}

const struct sched_lease *sched_lease_on(const struct sched *s, int host)
{
    for (int i = 0; i < s->n_leases; i++)
        if (s->leases[i].host == host)
            return &s->leases[i];
    return NULL;
}

const struct sched_lease *sched_lease_at(const struct sched *s, int i)
{
    return i < s->n_leases ? &s->leases[i] : NULL;
}

int sched_lease_end(struct sched *s, int64_t id)
{
    for (int i = 0; id && i < s->n_leases; i++) {
        struct sched_lease lease = s->leases[i];
        struct sched_host *h = &s->hosts[lease.host];

        if (lease.id != id)
            continue;
        s->leases[i] = s->leases[--s->n_leases];
        if (lease.gpu >= 0 && lease.gpu < h->gpus)
            h->measures[lease.gpu]--;
        else if (lease.gpu < 0)
            h->builds--;
        return lease.gpu < 0 ? -1 : lease.host * 256 + lease.gpu;
    }
    return -1;
}

int sched_leases(const struct sched *s)
{
    return s->n_leases;
}

/* ---- the next one ---- */

/* GPUs of a host that take what is screened. */
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

/* Position in 'q' of the first job this GPU should take: not the one it has
 * just failed to finish, while there is another GPU to try. */
static int choose(const struct sched *s, const struct fifo *q, int host,
                  int gpu)
{
    for (int i = 0; i < q->n; i++) {
        int job = fifo_peek(q, i);

        if (s->last_gpu[job] != host * 256 + gpu ||
            other_gpus(s, host, gpu) == 0)
            return i;
    }
    return -1;
}

/* Where an idle GPU of 'host' finds work: at home, else with the host that
 * has the most waiting beyond what its own GPUs hold. */
static struct fifo *source_for(struct sched *s, int host, int gpu, int *at)
{
    struct fifo *best = NULL;
    int most = 0;

    *at = choose(s, &s->hosts[host].ready, host, gpu);
    if (*at >= 0)
        return &s->hosts[host].ready;
    if (s->hosts[host].measures[gpu] > 0)
        return NULL; /* busy: what lies elsewhere can stay there */
    for (int h = 0; h < s->limits.hosts; h++) {
        struct sched_host *other = &s->hosts[h];
        int spare = other->ready.n - gpus_at_work(other);
        int i = choose(s, &other->ready, host, gpu);

        if (i >= 0 && spare > most) {
            most = spare;
            best = &other->ready;
            *at = i;
        }
    }
    return best;
}

static bool next_measure(struct sched *s, int host, struct sched_lease *out)
{
    struct sched_host *h = &s->hosts[host];

    for (int gpu = 0; gpu < h->gpus; gpu++) {
        struct fifo *q;
        int at, job;

        if (h->measures[gpu] >= h->credit)
            continue;
        if (sched_orders_next(s, host, gpu, out))
            return true;
        if (h->rests[gpu])
            continue;
        q = source_for(s, host, gpu, &at);
        if (!q)
            continue;
        job = fifo_peek(q, at);
        fifo_remove(q, at);
        if (!sched_job_apply(s, job, JOB_EV_LEASE))
            return next_measure(s, host, out); /* settled while it waited */
        *out = *sched_grant(s, job, host, gpu);
        return true;
    }
    return false;
}

static bool next_build(struct sched *s, int host, struct sched_lease *out)
{
    struct sched_host *h = &s->hosts[host];

    sched_sift(s);
    while (h->slots > 0 && h->builds < h->slots + 1 && s->builds.n > 0) {
        int job = fifo_peek(&s->builds, 0);

        fifo_remove(&s->builds, 0);
        if (!sched_job_apply(s, job, JOB_EV_LEASE))
            continue; /* settled while it waited */
        *out = *sched_grant(s, job, host, -1);
        return true;
    }
    return false;
}

bool sched_next(struct sched *s, struct sched_lease *out)
{
    for (int i = 0; i < s->limits.hosts; i++) {
        int host = (s->turn + i) % s->limits.hosts;
        const struct sched_host *h = &s->hosts[host];

        if (!h->up || h->paused)
            continue;
        if (next_measure(s, host, out) || next_build(s, host, out)) {
            s->turn = (host + 1) % s->limits.hosts;
            return true;
        }
    }
    return false;
}
