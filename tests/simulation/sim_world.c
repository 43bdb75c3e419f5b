#include "tests/simulation/sim_world.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/msg.h"
#include "tests/simulation/sim_dial.h"
#include "tests/simulation/sim_fault.h"
#include "tests/simulation/sim_full.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_vice.h"

#define START_MS_MAX 3000

static void make_line(struct sim_world *world, size_t host)
{
    static const int64_t latencies_us[] = { 200, 1000, 20000, 80000 };
    struct sim_line *line = &world->lines[host];

    *line = (struct sim_line){ .latency_ns = 0 };
    line->latency_ns = 1000 * latencies_us[sim_between(world, 0, 3)];
    line->login_ns = sim_between(world, 50, 900) * NS_PER_MS;
    if (host != world->scene.anchor && sim_chance(world, 6))
        line->refuses_login = true;
    if (sim_chance(world, 6))
        line->login_ns = sim_between(world, 5, 19) * NS_PER_S;
    if (!world->scene.hopeless)
        return;
    line->refuses_login = sim_chance(world, 50);
    line->down = !line->refuses_login;
}

void sim_world_init(struct sim_world *world, uint64_t seed, enum sim_pass pass,
                    bool dial, bool full)
{
    memset(world, 0, sizeof(*world));
    world->seed = seed;
    world->boot_ns = NS_PER_S;
    prng_init(&world->prng, seed);
    sim_scene_draw(world, pass, dial);
    for (size_t i = 0; i < world->scene.n_hosts; i++) {
        make_line(world, i);
        sim_host_init(world, i);
        sim_vice_begin(world, i);
        if (!sim_dial_has(world, i))
            continue;
        world->lines[i].direct = true;
        world->lines[i].refuses_login = false; /* nobody logs in */
        sim_dial_start_later(world, i, START_MS_MAX);
    }
    sim_fault_plan(world);
    sim_rent_end();
    if (full)
        sim_full_draw(world);
}

void sim_world_fini(struct sim_world *world)
{
    for (size_t i = 0; i < world->scene.n_hosts; i++) {
        sim_host_fini(world, i);
        sim_line_fini(&world->lines[i]);
    }
    sim_life_fini(&world->life);
    sim_queue_fini(&world->queue);
    sim_trace_fini(&world->trace);
}

bool sim_world_step(struct sim_world *world, int64_t until_ns)
{
    struct sim_event event;

    if (!sim_queue_take(&world->queue, until_ns, &event))
        return false;
    if (event.at_ns > world->boot_ns)
        world->boot_ns = event.at_ns;
    sim_rent_turn(world);
    event.fn(world, &event);
    return true;
}

void sim_world_run(struct sim_world *world, int64_t until_ns)
{
    while (sim_world_step(world, until_ns))
        continue;
    if (until_ns > world->boot_ns)
        world->boot_ns = until_ns;
    sim_rent_turn(world);
}

int64_t sim_between(struct sim_world *world, int64_t low, int64_t high)
{
    return low + (int64_t)prng_below(&world->prng, (uint64_t)(high - low) + 1);
}

bool sim_chance(struct sim_world *world, int percent)
{
    return sim_between(world, 0, 99) < percent;
}

uint64_t sim_mix(const struct sim_world *world, const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ world->seed;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ (h >> 32);
}

void sim_world_note(struct sim_world *world, enum sim_kind kind, int host,
                    const char *text)
{
    sim_trace_add(
        &world->trace,
        (struct sim_record){ .at_ns = world->boot_ns,
                             .kind = kind,
                             .host = host,
                             .type = -1,
                             .text = sim_name(&world->trace.names, text) });
}

void sim_world_note_bytes(struct sim_world *world, enum sim_kind kind,
                          size_t host, const struct sim_parcel *parcel)
{
    struct msg msg;
    struct err err;

    if (msg_decode(parcel->bytes, parcel->len, &msg, &err) < 0) {
        sim_world_note(world, kind, (int)host, err.text);
        return;
    }
    sim_trace_msg(&world->trace, kind, world->boot_ns, (int)host, &msg, 0);
    msg_fini(&msg);
}

void sim_world_lasts(struct sim_world *world, int64_t until_ns)
{
    if (until_ns != SIM_FOR_EVER && until_ns > world->healed_ns)
        world->healed_ns = until_ns;
}
