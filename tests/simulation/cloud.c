#include "tests/simulation/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define IDS_SEED UINT64_C(0x6163717569726564) /* not that of 'prng' */

struct cloud cloud;

void cloud_init(uint64_t seed)
{
    cloud = (struct cloud){ .is_there = true, .now_ns = 1000 * NS_PER_S };
    prng_init(&cloud.prng, seed);
    prng_init(&cloud.ids, seed ^ IDS_SEED);
}

int64_t cloud_between(int64_t low, int64_t high)
{
    return low + (int64_t)prng_below(&cloud.prng, (uint64_t)(high - low) + 1);
}

bool cloud_chance(int percent)
{
    return cloud_between(0, 99) < percent;
}

void cloud_seam(void)
{
    if (cloud.world)
        cloud.world->seam(cloud.world->self);
    if (cloud.kill_in > 0 && --cloud.kill_in == 0)
        longjmp(cloud.killed, 1);
}

/* ---- what happens */

static void change(struct cloud_machine *machine)
{
    if (!cloud.world)
        return;
    cloud.world->changes(cloud.world->self, machine);
    if (machine->vanishes_ns)
        cloud.world->lasts(cloud.world->self, machine->vanishes_ns);
}

static void act(struct cloud_process *process)
{
    struct cloud_machine *machine = &cloud.machines[process->machine];

    machine->is_on = process->is_start;
    if (process->is_start && !cloud.is_well && cloud_chance(10))
        machine->vanishes_ns =
            process->acts_ns + cloud_between(0, 60 * NS_PER_S);
    process->acts_ns = 0;
    change(machine);
}

/* The time at which the process or the machine does something next. */
static int64_t next_of(const struct cloud_process *process)
{
    if (!process->went || process->is_over)
        return 0;
    return process->acts_ns ? process->acts_ns : process->ends_ns;
}

static bool earlier(int64_t at, int64_t *best)
{
    if (at == 0 || at > *best)
        return false;
    *best = at;
    return true;
}

static bool step(int64_t until_ns)
{
    struct cloud_process *process = NULL;
    struct cloud_machine *machine = NULL;
    int64_t best = until_ns;

    for (size_t i = 0; i < cloud.n_processes; i++)
        if (earlier(next_of(&cloud.processes[i]), &best))
            process = &cloud.processes[i];
    for (size_t i = 0; i < cloud.n_machines; i++)
        if (earlier(cloud.machines[i].vanishes_ns, &best))
            machine = &cloud.machines[i];
    if (machine) {
        machine->vanished = machine->vanished || machine->is_on;
        machine->is_on = false;
        machine->vanishes_ns = 0;
        change(machine);
    } else if (process && process->acts_ns) {
        act(process);
    } else if (process) {
        process->is_over = true;
    }
    return machine || process;
}

void cloud_run(int64_t until_ns)
{
    while (step(until_ns))
        continue;
    cloud.now_ns = until_ns;
}

/* ---- commands */

static size_t machine_of(const struct store_acquisition *row)
{
    size_t i = 0;

    while (i < cloud.n_machines && strcmp(cloud.machines[i].id, row->id) != 0)
        i++;
    if (i < cloud.n_machines)
        return i;
    if (cloud.n_machines == CLOUD_MOST)
        abort();
    cloud.machines[i] = (struct cloud_machine){ .forked_ns = cloud.now_ns };
    snprintf(cloud.machines[i].id, sizeof(cloud.machines[i].id), "%s", row->id);
    snprintf(cloud.machines[i].host, sizeof(cloud.machines[i].host), "%.15s",
             row->host);
    cloud.n_machines++;
    return i;
}

int64_t cloud_fork(const struct store_acquisition *row, bool is_start)
{
    size_t i = cloud.n_processes++;

    if (i == CLOUD_MOST)
        abort();
    cloud.processes[i] = (struct cloud_process){
        .machine = machine_of(row),
        .is_start = is_start,
        .forked_ns = cloud.now_ns,
    };
    return CLOUD_PID + (int64_t)i;
}

/* How long it takes, if it ends; it acts at some moment of that time. */
static int64_t draw_duration(void)
{
    static const int64_t most_ms[] = { 100, 100, 1000, 5000, 60000 };

    return cloud_between(50, most_ms[cloud_between(0, 4)]) * NS_PER_MS;
}

void cloud_go(int64_t pid)
{
    struct cloud_process *process = cloud_process(pid);
    int64_t takes_ns = cloud.is_well ? 50 * NS_PER_MS : draw_duration();
    int64_t how = cloud.is_well ? 0 : cloud_between(0, 9);

    process->went = true;
    if (process->is_start)
        cloud.machines[process->machine].asked_ns = cloud.now_ns;
    process->acts_ns = cloud.now_ns + cloud_between(1, takes_ns);
    process->ends_ns = cloud.now_ns + takes_ns;
    if (how >= 8) /* it fails, or hangs, or is killed from outside */
        process->status = 1 + (int)cloud_between(0, 2);
    if (how >= 8 && cloud_chance(50))
        process->acts_ns = 0; /* without having done it */
    if (how == 7)
        process->ends_ns = 0;
    if (cloud.world && !cloud.is_well)
        cloud.world->lasts(cloud.world->self, cloud.now_ns + CLOUD_LASTS_NS);
}

struct cloud_process *cloud_process(int64_t pid)
{
    size_t i = (size_t)(pid - CLOUD_PID);

    return pid >= CLOUD_PID && i < cloud.n_processes ? &cloud.processes[i]
                                                     : NULL;
}

void cloud_coordinator_died(void)
{
    for (size_t i = 0; i < cloud.n_processes; i++) {
        struct cloud_process *process = &cloud.processes[i];

        process->is_over = process->is_over || !process->went;
    }
}
