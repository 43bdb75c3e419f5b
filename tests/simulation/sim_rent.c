#include "tests/simulation/sim_rent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/int64.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_bill.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/state/sweep_options.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/simulation/cloud.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

#define NEAR_S 1.0

/* ---- the cloud asks the world */

static void seam(void *self)
{
    struct sim_world *world = self;

    if (world->life.alive)
        sim_life_seam(world);
}

static void run_world(void *self, int64_t until_ns)
{
    sim_world_run(self, until_ns);
}

static bool is_disk_full(void *self)
{
    const struct sim_world *world = self;

    return world->life.alive && world->life.disk_full;
}

static int64_t utc_ns(void *self)
{
    const struct sim_world *world = self;

    return SIM_UTC_NS + world->boot_ns + world->utc_off_ns;
}

static int64_t steady_utc_ns(void *self)
{
    const struct sim_world *world = self;

    return SIM_UTC_NS + world->boot_ns + world->life.utc_off_ns;
}

static size_t host_named(const struct sim_world *world, const char *name)
{
    size_t i = 0;

    while (strcmp(world->scene.hosts[i].name, name) != 0)
        i++;
    return i;
}

static void changes(void *self, const struct cloud_machine *machine)
{
    struct sim_world *world = self;
    size_t host = host_named(world, machine->host);

    if (machine->is_on)
        sim_host_begin(world, host);
    else
        sim_host_wipe(world, host);
}

static void lasts(void *self, int64_t until_ns)
{
    sim_world_lasts(self, until_ns);
}

/* ---- the scene */

static void draw_host(struct sim_world *world, struct host *host)
{
    static const double boots_s[] = { 0, 0, 5, 30, 90 };
    static const double bills_s[] = { 0, 0, 60, 600 };
    static const double rounds_s[] = { 0, 0, 1, 60 };
    struct host_rental *rental = &host->rental;

    snprintf(rental->start, sizeof(rental->start), "rent start");
    snprintf(rental->stop, sizeof(rental->stop), "rent stop");
    rental->spot = sim_chance(world, 50);
    rental->boot_s = boots_s[sim_between(world, 0, 4)];
    rental->min_bill_s = bills_s[sim_between(world, 0, 3)];
    rental->round_s = rounds_s[sim_between(world, 0, 3)];
}

static void begin_cloud(struct sim_world *world)
{
    static struct cloud_world around;

    around = (struct cloud_world){ .self = world,
                                   .seam = seam,
                                   .run = run_world,
                                   .is_disk_full = is_disk_full,
                                   .utc_ns = utc_ns,
                                   .steady_utc_ns = steady_utc_ns,
                                   .changes = changes,
                                   .lasts = lasts };
    cloud_init(world->seed);
    cloud.now_ns = world->boot_ns;
    cloud.world = &around;
    cloud.is_well = sim_chance(world, 40);
}

void sim_rent_draw(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;

    sim_rent_end();
    for (size_t i = 0; i < scene->n_hosts; i++) {
        if (scene->hosts[i].dial.back || !sim_chance(world, 60))
            continue;
        draw_host(world, &scene->hosts[i]);
        world->hosts[i].off = true;
        scene->rents = true;
        sim_world_note(world, SIM_SCENE, (int)i,
                       scene->hosts[i].rental.spot ? "rented, spot" : "rented");
    }
    scene->goal = (enum rental_goal)sim_between(world, 0, 2);
    world->well_ns = world->boot_ns + scene->horizon_ns;
    if (scene->rents)
        begin_cloud(world);
}

void sim_rent_end(void)
{
    cloud = (struct cloud){ .is_there = false };
}

bool sim_rent_has(const struct sim_world *world, size_t host)
{
    return host_is_rented(&world->scene.hosts[host]);
}

bool sim_rent_is_on(const struct sim_world *world, size_t host)
{
    const char *name = world->scene.hosts[host].name;

    for (size_t i = 0; i < cloud.n_machines; i++)
        if (cloud.machines[i].is_on &&
            strcmp(cloud.machines[i].host, name) == 0)
            return true;
    return !sim_rent_has(world, host);
}

void sim_rent_turn(struct sim_world *world)
{
    if (!world->scene.rents || world->boot_ns < cloud.now_ns)
        return;
    cloud.is_well = cloud.is_well || world->boot_ns > world->well_ns;
    cloud_run(world->boot_ns);
}

/* ---- a life of the coordinator */

static void say(void *self, const char *text)
{
    sim_world_note(self, SIM_RENT, SIM_NOBODY, text);
}

static int release(struct sim_world *world, struct store *store,
                   const struct rental *machines, struct err *err)
{
    struct store_acquisition *known;
    size_t n = rental_running(machines, &known);
    const struct release_options options = { .say = say,
                                             .self = world,
                                             .patience_s = RELEASE_PATIENCE_S,
                                             .known = known,
                                             .n_known = n };
    struct release_count count;
    int rc = release_all(store, &options, &count, err);

    free(known);
    if (rc == 0)
        rc = rental_bill(store, err);
    world->rents_running = count.running;
    return rc;
}

int sim_rent_open(struct sim_world *world, const struct hosts *hosts,
                  struct sweep_options *options, struct err *err)
{
    int rc;

    if (!world->scene.rents)
        return 0;
    rc = release(world, world->life.rents, NULL, err);
    world->life.machines = rental_new(hosts, "/");
    options->stay.rental = (struct sweep_rental){
        .machines = world->life.machines,
        .store = world->life.rents,
        .goal = world->scene.goal,
    };
    return rc;
}

int sim_rent_close(struct sim_world *world, struct err *err)
{
    return world->scene.rents
               ? release(world, world->life.rents, world->life.machines, err)
               : 0;
}

void sim_rent_died(struct sim_world *world)
{
    rental_free(world->life.machines);
    world->life.machines = NULL;
    if (world->scene.rents)
        cloud_coordinator_died();
}

/* ---- the link */

static void news(struct sim_world *world, size_t host)
{
    sim_life_news(world, host, HOST_THREADS_PARKED, 0, "");
}

void sim_rent_connect(struct sim_world *world, size_t host)
{
    sim_host_thread_start(world, host);
}

void sim_rent_park(struct sim_world *world, size_t host)
{
    sim_host_thread_kill(world, host);
    news(world, host);
}

/* ---- what must hold */

static bool may_run(size_t machine)
{
    bool may = cloud.machines[machine].is_on;

    for (size_t i = 0; i < cloud.n_processes; i++) {
        const struct cloud_process *process = &cloud.processes[i];

        may = may || (process->machine == machine && process->is_start &&
                      process->went && !process->is_over && process->acts_ns);
    }
    return may;
}

/* Both databases, because the fuzz proof has its own. */
static void rows(struct sim_run *run, struct store_acquisition **out, size_t *n)
{
    struct store *store = NULL;
    struct err err;

    *out = NULL;
    *n = 0;
    if (store_open(sim_sweep_db(false), STORE_READ, &store, &err) < 0 ||
        rental_rows_all(store, out, n, &err) < 0)
        sim_run_finds(run, "rent", "%s", err.text);
    store_close(store);
}

void sim_rent_check_listed(struct sim_run *run)
{
    struct store_acquisition *list;
    size_t n;

    if (!run->world->scene.rents)
        return;
    rows(run, &list, &n);
    for (size_t i = 0; i < cloud.n_machines; i++) {
        size_t row = 0;

        while (row < n && (list[row].released_utc != 0 ||
                           strcmp(list[row].id, cloud.machines[i].id) != 0))
            row++;
        if (may_run(i) && row == n)
            sim_run_finds(run, "rent",
                          "machine %s of %s runs or will, and no row says so",
                          cloud.machines[i].id, cloud.machines[i].host);
    }
    free(list);
}

static int by_forked(const void *a, const void *b)
{
    const struct cloud_machine *const *x = a, *const *y = b;

    return ((*x)->forked_ns > (*y)->forked_ns) -
           ((*x)->forked_ns < (*y)->forked_ns);
}

/* While two machines of a host run, because the stop= of the first one fails,
 * one of them is counted (docs/fleet.md).  If a coordinator is killed as it
 * runs start=, the next one cannot know that nothing was started. */
static double cost_s(const char *host)
{
    const struct cloud_machine *list[CLOUD_MOST];
    int64_t until_ns = 0, ns = 0;
    size_t n = 0;

    for (size_t i = 0; i < cloud.n_machines; i++)
        if (strcmp(cloud.machines[i].host, host) == 0)
            list[n++] = &cloud.machines[i];
    qsort(list, n, sizeof(const struct cloud_machine *), by_forked);
    for (size_t i = 0; i < n; i++) {
        int64_t from_ns = int64_max(list[i]->forked_ns, until_ns);

        ns += int64_max(list[i]->released_ns - from_ns, 0);
        until_ns = int64_max(list[i]->released_ns, until_ns);
    }
    return (double)ns / (double)NS_PER_S;
}

static void check_bill(struct sim_run *run, struct store *store, size_t i)
{
    const struct host *host = &run->world->scene.hosts[i];
    struct sqlite3_stmt *stmt = NULL;
    double held = 0, done = 0, cost = cost_s(host->name);
    double near_s = NEAR_S + (double)run->world->late_ns / (double)NS_PER_S;
    struct err err;
    int rc = sql_prepare(
        store_db(store),
        "SELECT (SELECT total(end_ns-start_ns) FROM held WHERE host=?1),"
        " (SELECT total(end_ns-start_ns) FROM interval WHERE host=?1)",
        &stmt, &err);

    if (rc == 0)
        rc = sql_start(stmt, &err, "s", host->name);
    if (rc == 0 && sql_step(stmt, &err) == 1) {
        held = sql_real(stmt, 0) / (double)NS_PER_S;
        done = sql_real(stmt, 1) / (double)NS_PER_S;
    }
    sql_free(stmt);
    if (fabs(held - cost) > near_s || fabs(done - cost) > near_s)
        sim_run_finds(run, "I5",
                      "the machines of %s cost %.1f s, it is held for %.1f s, "
                      "and its intervals are %.1f s",
                      host->name, cost, held, done);
}

void sim_rent_check_end(struct sim_run *run)
{
    struct sim_world *world = run->world;
    struct store *store = NULL;
    struct err err;

    if (!world->scene.rents)
        return;
    cloud.is_well = true;
    if (store_open(sim_sweep_db(false), STORE_WRITE, &store, &err) < 0 ||
        release(world, store, NULL, &err) < 0)
        sim_run_finds(run, "rent", "%s", err.text);
    if (world->rents_running > 0)
        sim_run_finds(run, "rent", "%zu machines run, and nothing failed",
                      world->rents_running);
    for (size_t i = 0; store && i < world->scene.n_hosts; i++)
        if (sim_rent_has(world, i))
            check_bill(run, store, i);
    store_close(store);
    sim_world_run(world, world->boot_ns + CLOUD_LASTS_NS);
    for (size_t i = 0; i < cloud.n_machines; i++)
        if (cloud.machines[i].is_on)
            sim_run_finds(run, "rent", "machine %s runs after the release",
                          cloud.machines[i].id);
}
