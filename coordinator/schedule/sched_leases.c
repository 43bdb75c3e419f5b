/* The leases that are handed out. */
#include <stddef.h>

#include "common/mem.h"
#include "coordinator/schedule/sched_internal.h"

#define ROUND_TRIP_NS 150e6

struct sched_lease *sched_lease_new(struct sched *s, int host, int gpu)
{
    struct sched_lease *lease;

    if (s->leases.n == s->leases.cap) {
        s->leases.cap = s->leases.cap ? s->leases.cap * 2 : 64;
        s->leases.list = mem_grow(s->leases.list, (size_t)s->leases.cap,
                                  sizeof(*s->leases.list));
    }
    lease = &s->leases.list[s->leases.n++];
    *lease = (struct sched_lease){ .id = s->leases.next_id++,
                                   .host = host,
                                   .gpu = gpu };
    if (gpu < 0)
        s->hosts[host].builds++;
    else if (gpu < s->hosts[host].gpus)
        s->hosts[host].measures[gpu]++;
    return lease;
}

/* Its index, or -1. */
static int find(const struct sched *s, int64_t id)
{
    for (int i = 0; i < s->leases.n; i++)
        if (s->leases.list[i].id == id)
            return i;
    return -1;
}

const struct sched_lease *sched_lease_get(const struct sched *s, int64_t id)
{
    int i = find(s, id);

    return i < 0 ? NULL : &s->leases.list[i];
}

struct sched_lease *sched_lease_at_id(struct sched *s, int64_t id)
{
    int i = find(s, id);

    return i < 0 ? NULL : &s->leases.list[i];
}

void sched_lease_late(struct sched *s, int64_t id)
{
    struct sched_lease *lease = sched_lease_at_id(s, id);

    if (lease && !lease->order && !lease->late) {
        lease->late = true;
        s->leases.n_late++;
    }
}

const struct sched_lease *sched_lease_on(const struct sched *s, int host)
{
    for (int i = 0; i < s->leases.n; i++)
        if (s->leases.list[i].host == host)
            return &s->leases.list[i];
    return NULL;
}

const struct sched_lease *sched_lease_at(const struct sched *s, int i)
{
    return i < s->leases.n ? &s->leases.list[i] : NULL;
}

int sched_lease_end(struct sched *s, int64_t id)
{
    int i = id ? find(s, id) : -1;
    struct sched_lease lease;
    struct sched_host *h;

    if (i < 0)
        return -1;
    lease = s->leases.list[i];
    h = &s->hosts[lease.host];
    s->leases.list[i] = s->leases.list[--s->leases.n];
    s->leases.n_late -= lease.late;
    if (lease.gpu < 0) {
        h->builds--;
        return -1;
    }
    if (lease.gpu < h->gpus)
        h->measures[lease.gpu]--;
    return lease.host * 256 + lease.gpu;
}

int sched_leases(const struct sched *s)
{
    return s->leases.n;
}

int sched_credit(double measure_ns, int most)
{
    int credit = SCHED_CREDIT;

    while (credit < most && measure_ns > 0 &&
           (credit - 1) * measure_ns < ROUND_TRIP_NS)
        credit++;
    return credit < most ? credit : most;
}
