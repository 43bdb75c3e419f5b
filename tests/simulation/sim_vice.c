#include "tests/simulation/sim_vice.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

#define FLOOD_NS (500 * NS_PER_MS)
#define FLOOD_WANTS 50
#define FLOOD_UNTIL_NS (60 * NS_PER_S)
#define EVICT_NS (3 * NS_PER_S)
#define EVICT_PERCENT 20
#define EVICT_UNTIL_NS (120 * NS_PER_S) /* then the host has enough room */
#define LATE_UNTIL_NS (240 * NS_PER_S)
#define LIE_PERCENT 20
#define CLAIMS_MAX 4

static bool has(const struct sim_world *world, size_t host, enum sim_vice vice)
{
    return world->scene.vices[host] == vice;
}

static int64_t period_ns(const struct sim_world *world, size_t host)
{
    if (has(world, host, SIM_FLOODS) && world->boot_ns < FLOOD_UNTIL_NS)
        return FLOOD_NS;
    if (has(world, host, SIM_EVICTS) && world->boot_ns < EVICT_UNTIL_NS)
        return EVICT_NS;
    return SIM_FOR_EVER;
}

int64_t sim_vice_next(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = world->hosts[host].worker;

    return period_ns(world, host) == SIM_FOR_EVER ? SIM_FOR_EVER
                                                  : worker->vice_ns;
}

static void flood(struct sim_world *world, size_t host)
{
    char hash[HASH_HEX];
    struct msg msg = {
        .type = MSG_WANT,
        .want = { .what = MSG_WANT_ARTIFACT, .hash = hash, .offset = -1 }
    };

    for (int i = 0; i < FLOOD_WANTS; i++) {
        snprintf(hash, sizeof(hash), "%016llx%016llx",
                 (unsigned long long)prng_next(&world->prng), 0ULL);
        sim_worker_say(world, host, &msg);
    }
}

void sim_vice_begin(struct sim_world *world, size_t host)
{
    static const int64_t ends_ns[SIM_VICES] = {
        [SIM_FLOODS] = FLOOD_UNTIL_NS,
        [SIM_EVICTS] = EVICT_UNTIL_NS,
        [SIM_LATE] = 2 * LATE_UNTIL_NS, /* when its last answers come */
    };

    sim_world_lasts(world, ends_ns[world->scene.vices[host]]);
}

void sim_vice_act(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = world->hosts[host].worker;
    int64_t period = period_ns(world, host);

    if (period == SIM_FOR_EVER || world->boot_ns < worker->vice_ns ||
        !worker->welcomed)
        return;
    worker->vice_ns = world->boot_ns + period;
    if (has(world, host, SIM_FLOODS))
        flood(world, host);
    else
        sim_host_evict(world, host, EVICT_PERCENT);
}

/* Claims leases that the coordinator sent to other hosts. */
void sim_vice_claim(struct sim_world *world, size_t host, char ***items,
                    size_t *n)
{
    const struct sim_trace *trace = &world->trace;
    int claimed = 0;

    if (!has(world, host, SIM_CLAIMS))
        return;
    for (size_t i = 0; i < trace->n && claimed < CLAIMS_MAX; i++) {
        const struct sim_record *r = &trace->records[i];
        const char *id = sim_trace_text(trace, r->id);

        if (r->kind != SIM_SENT || r->host == (int)host || r->lease == 0 ||
            !*id || !sim_chance(world, 20))
            continue;
        *items = mem_grow(*items, *n + 1, sizeof(**items));
        (*items)[(*n)++] = mem_printf("t/%s/1", id);
        claimed++;
    }
}

bool sim_vice_refuses(struct sim_world *world, size_t host)
{
    return has(world, host, SIM_REFUSES);
}

bool sim_vice_sits(struct sim_world *world, size_t host)
{
    return has(world, host, SIM_BEATS_ONLY);
}

bool sim_vice_is_late(struct sim_world *world, size_t host)
{
    return has(world, host, SIM_LATE) && world->boot_ns < LATE_UNTIL_NS &&
           sim_chance(world, 50);
}

const char *sim_vice_bytes(struct sim_world *world, size_t host,
                           const char *bytes)
{
    static const char other[(1 << 20)] = "other bytes";

    return has(world, host, SIM_LIES) && sim_chance(world, 50) ? other : bytes;
}

void sim_vice_twist(struct sim_world *world, size_t host, struct msg *result)
{
    static const char no_hash[] = "00000000000000000000000000000000";

    if (!has(world, host, SIM_LIES) || !sim_chance(world, LIE_PERCENT))
        return;
    switch (sim_between(world, 0, 2)) {
    case 0: /* the lease is another host's, or does not exist */
        msg_work_of(result)->lease += sim_between(world, 1, 3);
        break;
    case 1:
        if (result->type == MSG_BUILT)
            result->built.artifact = no_hash;
        else if (result->type == MSG_MEASURED)
            result->measured.artifact = no_hash;
        break;
    default:
        msg_result_of(result)->outcome = "splendid";
        break;
    }
}
