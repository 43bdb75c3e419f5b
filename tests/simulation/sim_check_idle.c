/* F28, from the trace alone: if a silent host holds measurements, a GPU without
 * work repeats them. */
#include <string.h>

#include "common/clock.h"
#include "common/msg.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_leases.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_world.h"

#define SILENT_NS (10 * NS_PER_S) /* two heartbeats */
#define LATE_NS (11 * NS_PER_S)   /* 10 s while no time is known */
#define SPEAKS_NS (7 * NS_PER_S)
#define IDLE_NS (8 * NS_PER_S) /* enough to fetch or build what it needs */

struct place {
    int gpu; /* a name of the trace */
    int64_t used_ns;
};

struct places {
    struct sim_leases leases;
    struct place of[SIM_HOSTS_MAX][SIM_GPUS_MAX];
    int n[SIM_HOSTS_MAX];
    int64_t ready_ns[SIM_HOSTS_MAX];
};

static bool is_used(const struct places *p, int gpu)
{
    for (size_t i = 0; i < p->leases.n; i++)
        if (p->leases.out[i].gpu == gpu)
            return true;
    return false;
}

static void note_use(struct places *p, int64_t now)
{
    for (size_t h = 0; h < SIM_HOSTS_MAX; h++)
        for (int g = 0; g < p->n[h]; g++)
            if (is_used(p, p->of[h][g].gpu))
                p->of[h][g].used_ns = now;
}

/* A GPU that had no work for a while, on a host that is not silent; or NULL. */
static const struct place *find_idle(const struct places *p, int64_t now,
                                     int except)
{
    for (int h = 0; h < SIM_HOSTS_MAX; h++)
        for (int g = 0; h != except && g < p->n[h]; g++) {
            const struct place *place = &p->of[h][g];

            if (p->ready_ns[h] > 0 && now - p->ready_ns[h] > IDLE_NS &&
                now - p->leases.heard_ns[h] < SPEAKS_NS &&
                now - place->used_ns > IDLE_NS)
                return place;
        }
    return NULL;
}

static bool is_repeated(const struct sim_leases *l, const struct sim_lease *it)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].id == it->id && l->out[i].host != it->host)
            return true;
    return false;
}

/* Measurements may wait for the builds that are running. */
static bool builds_run(const struct sim_leases *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].type == MSG_BUILD)
            return true;
    return false;
}

static bool find_waste(struct sim_run *run, const struct places *p, int64_t now)
{
    const struct sim_leases *l = &p->leases;

    for (size_t i = 0; i < l->n && !builds_run(l); i++) {
        const struct sim_lease *out = &l->out[i];
        const struct place *idle = find_idle(p, now, out->host);

        if (!idle || now - l->heard_ns[out->host] < SILENT_NS ||
            now - out->since_ns < LATE_NS ||
            !strstr(sim_trace_text(l->trace, out->id), "/screen/0/") ||
            is_repeated(l, out))
            continue;
        sim_run_finds(run, "F28",
                      "%s is idle since %.1f s while host %d, silent since "
                      "%.1f s, holds lease %lld",
                      sim_trace_text(l->trace, idle->gpu),
                      (double)idle->used_ns / (double)NS_PER_S, out->host,
                      (double)l->heard_ns[out->host] / (double)NS_PER_S,
                      (long long)out->lease);
        return true;
    }
    return false;
}

static void note_host(struct places *p, const struct sim_record *r)
{
    if (r->type == MSG_HELLO)
        p->ready_ns[r->host] = p->n[r->host] = 0;
    if (r->type == MSG_GPU && p->n[r->host] < SIM_GPUS_MAX)
        p->of[r->host][p->n[r->host]++] =
            (struct place){ .gpu = r->gpu, .used_ns = r->at_ns };
    if (r->type == MSG_READY)
        p->ready_ns[r->host] = r->at_ns;
}

void sim_check_idle(struct sim_run *run)
{
    const struct sim_trace *trace = &run->world->trace;
    struct places p = { .leases = { .trace = trace } };
    bool told = false;

    for (size_t i = 0; i < trace->n && !told; i++) {
        const struct sim_record *r = &trace->records[i];

        if (r->kind == SIM_BEGIN || r->kind == SIM_SLEEP)
            memset(p.ready_ns, 0, sizeof(p.ready_ns));
        if (r->kind == SIM_DISMISS)
            p.ready_ns[r->host] = 0;
        sim_leases_take(&p.leases, i);
        if (r->kind == SIM_TAKEN)
            note_host(&p, r);
        note_use(&p, r->at_ns);
        if (r->kind == SIM_SENT && r->type == MSG_BEAT)
            told = find_waste(run, &p, r->at_ns);
    }
    sim_leases_fini(&p.leases);
}
