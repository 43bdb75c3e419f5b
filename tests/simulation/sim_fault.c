#include "tests/simulation/sim_fault.h"

#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_world.h"

#define HOUR_NS (3600 * NS_PER_S)

/* A fault begins at once; 'lasts_ns' may be SIM_FOR_EVER. */
struct fault {
    const char *name;
    void (*begin)(struct sim_world *world, size_t host, int64_t lasts_ns);
    bool for_ever; /* it may last for ever, on any host but the anchor */
    bool of_host;
    int weight;
};

static int64_t end_of(const struct sim_world *world, int64_t lasts_ns)
{
    return lasts_ns == SIM_FOR_EVER ? SIM_FOR_EVER : world->boot_ns + lasts_ns;
}

static void end_later(struct sim_world *world, sim_event_fn *fn, size_t host,
                      int64_t lasts_ns)
{
    if (lasts_ns != SIM_FOR_EVER)
        sim_queue_add(&world->queue,
                      (struct sim_event){ .at_ns = world->boot_ns + lasts_ns,
                                          .fn = fn,
                                          .host = host });
}

/* ---- faults of connections ---- */

static void cut(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)lasts_ns;
    if (world->lines[host].direct)
        sim_line_reset(world, host);
    else if (world->lines[host].thread == SIM_HOST_THREAD_ATTACHED)
        sim_host_thread_broken(world, host, "connection reset");
}

/* Both ends notice nothing but the silence.  A new login works. */
static void half_open(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    int64_t which = sim_between(world, 0, 2);

    sim_line_stall(world, host, which != 0, which != 1,
                   end_of(world, lasts_ns));
}

static void net_up(struct sim_world *world, const struct sim_event *event)
{
    world->lines[event->host].down = world->scene.hopeless;
    sim_world_note(world, SIM_HEAL, (int)event->host, "network");
    if (world->lines[event->host].direct)
        sim_line_redial(world, event->host);
}

static void net_down(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    world->lines[host].down = true;
    sim_line_stall(world, host, true, true, end_of(world, lasts_ns));
    end_later(world, net_up, host, lasts_ns);
}

/* ---- faults of hosts ---- */

static void kill_worker(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)lasts_ns;
    sim_host_kill_worker(world, host, "killed");
}

static void reboot(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    sim_host_reboot(world, host, lasts_ns);
}

static void freeze(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    sim_host_freeze(world, host, end_of(world, lasts_ns));
}

static void evict(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)lasts_ns;
    sim_host_evict(world, host, sim_chance(world, 30) ? 100 : 40);
}

static void has_room(struct sim_world *world, const struct sim_event *event)
{
    world->hosts[event->host].disk_full = false;
    sim_world_note(world, SIM_HEAL, (int)event->host, "disk");
}

static void disk_full(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    world->hosts[host].disk_full = true;
    end_later(world, has_room, host, lasts_ns);
}

/* ---- faults of the coordinator ---- */

static void kill_coordinator(struct sim_world *world, size_t host,
                             int64_t lasts_ns)
{
    (void)host;
    (void)lasts_ns;
    if (world->life.alive)
        world->life.kill_in = (int)sim_between(world, 1, 25);
}

static void fall_asleep(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)host;
    if (world->life.alive)
        world->life.sleep_ns = lasts_ns;
}

static void step_clock(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)host;
    (void)lasts_ns;
    world->utc_off_ns += sim_chance(world, 50) ? HOUR_NS : -HOUR_NS;
}

static void commits_fast(struct sim_world *world, const struct sim_event *event)
{
    (void)event;
    world->life.commit_ns = 0;
    sim_world_note(world, SIM_HEAL, SIM_NOBODY, "commits");
}

static void slow_commits(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    world->life.commit_ns = sim_between(world, 5, 3000) * NS_PER_MS;
    end_later(world, commits_fast, host, lasts_ns);
}

static void has_space(struct sim_world *world, const struct sim_event *event)
{
    (void)event;
    world->life.disk_full = false;
    sim_world_note(world, SIM_HEAL, SIM_NOBODY, "database");
}

static void database_full(struct sim_world *world, size_t host,
                          int64_t lasts_ns)
{
    world->life.disk_full = true;
    end_later(world, has_space, host, lasts_ns);
}

/* The reactor blocks the signal and reads it from a descriptor. */
static void interrupt(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)host;
    (void)lasts_ns;
    if (world->life.alive && world->life.signals >= 0)
        kill(getpid(), SIGINT);
}

/* ---- those of --full ---- */

static void lose_disk(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)lasts_ns;
    sim_host_lose_disk(world, host);
}

/* The next worker finds fewer. */
static void lose_gpu(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)lasts_ns;
    if (world->scene.gpus[host] > 1)
        world->scene.gpus[host]--;
    sim_host_kill_worker(world, host, "a GPU fell off");
}

static void fail_commit(struct sim_world *world, size_t host, int64_t lasts_ns)
{
    (void)host;
    (void)lasts_ns;
    if (world->life.alive)
        world->life.fails_in = (int)sim_between(world, 1, 10);
}

static const struct fault faults[] = {
    { "connection cut", cut, false, true, 10 },
    { "half-open", half_open, true, true, 10 },
    { "network down", net_down, true, true, 5 },
    { "worker killed", kill_worker, false, true, 8 },
    { "reboot", reboot, false, true, 5 },
    { "frozen", freeze, true, true, 10 },
    { "artifacts evicted", evict, false, true, 8 },
    { "disk of a host full", disk_full, false, true, 4 },
    { "coordinator killed", kill_coordinator, false, false, 12 },
    { "coordinator asleep", fall_asleep, false, false, 4 },
    { "wall clock steps", step_clock, false, false, 4 },
    { "slow commits", slow_commits, false, false, 3 },
    { "database's disk full", database_full, false, false, 3 },
    { "interrupted", interrupt, false, false, 2 },
    /* more: */
    { "disk of a host lost", lose_disk, false, true, 5 },
    { "a GPU falls off", lose_gpu, false, true, 3 },
    { "one COMMIT fails", fail_commit, false, false, 5 },
    { "wall clock steps", step_clock, false, false, 3 },
    { "interrupted", interrupt, false, false, 2 },
    { "coordinator asleep", fall_asleep, false, false, 2 },
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))
#define MORE 6

static void begin(struct sim_world *world, const struct sim_event *event)
{
    const struct fault *fault = &faults[event->number];

    sim_world_note(world, SIM_FAULT,
                   fault->of_host ? (int)event->host : SIM_NOBODY, fault->name);
    fault->begin(world, event->host, event->more);
}

/* One of those from 'first' to 'end'. */
static size_t draw_fault(struct sim_world *world, size_t first, size_t end)
{
    int all = 0;
    int64_t left;

    for (size_t i = first; i < end; i++)
        all += faults[i].weight;
    left = sim_between(world, 0, all - 1);
    for (size_t i = first; i < end; i++)
        if ((left -= faults[i].weight) < 0)
            return i;
    return first;
}

static int64_t draw_duration(struct sim_world *world, size_t fault, size_t host)
{
    static const int64_t most_s[] = { 3, 20, 60, 300 };

    if (faults[fault].for_ever && host != world->scene.anchor &&
        sim_chance(world, 25))
        return SIM_FOR_EVER;
    return sim_between(world, 100, 1000 * most_s[sim_between(world, 0, 3)]) *
           NS_PER_MS;
}

static void plan_one(struct sim_world *world, size_t first, size_t end)
{
    const struct sim_scene *scene = &world->scene;
    struct sim_event event = { .fn = begin };
    size_t fault = draw_fault(world, first, end);

    event.number = (int64_t)fault;
    event.host = (size_t)sim_between(world, 0, (int64_t)scene->n_hosts - 1);
    event.at_ns = world->boot_ns + sim_between(world, 0, scene->horizon_ns);
    event.more = draw_duration(world, fault, event.host);
    sim_queue_add(&world->queue, event);
    sim_world_lasts(world, event.more == SIM_FOR_EVER
                               ? event.at_ns
                               : event.at_ns + event.more);
}

void sim_fault_plan(struct sim_world *world)
{
    for (int i = 0; i < world->scene.faults; i++)
        plan_one(world, 0, FAULTS - MORE);
}

void sim_fault_plan_more(struct sim_world *world, int n)
{
    for (int i = 0; i < n; i++)
        plan_one(world, FAULTS - MORE, FAULTS);
}
