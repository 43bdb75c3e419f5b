/* The leases that are handed out. */
#include <stddef.h>

#include "common/mem.h"
#include "coordinator/schedule/sched_internal.h"

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
    if (gpu >= 0 && gpu < s->hosts[host].gpus)
        s->hosts[host].measures[gpu]++;
    else if (gpu < 0)
        s->hosts[host].builds++;
    return lease;
}

const struct sched_lease *sched_lease_get(const struct sched *s, int64_t id)
{
    for (int i = 0; i < s->leases.n; i++)
        if (s->leases.list[i].id == id)
            return &s->leases.list[i];
    return NULL;
}

struct sched_lease *sched_lease_at_id(struct sched *s, int64_t id)
{
    for (int i = 0; i < s->leases.n; i++)
        if (s->leases.list[i].id == id)
            return &s->leases.list[i];
    return NULL;
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
    for (int i = 0; id && i < s->leases.n; i++) {
        struct sched_lease lease = s->leases.list[i];
        struct sched_host *h = &s->hosts[lease.host];

        if (lease.id != id)
            continue;
        s->leases.list[i] = s->leases.list[--s->leases.n];
        s->leases.n_late -= lease.late;
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
    return s->leases.n;
}
