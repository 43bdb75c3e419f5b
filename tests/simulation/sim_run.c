#include "tests/simulation/sim_run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"
#include "tests/coordinator/store/blank_db.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_pass.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

#define LIVES_MAX 24
/* Some seeds keep artifacts (artifact_cache.h); without, more of them travel
 * and vanish. */
#define CACHE_EVERY 7
#define CACHE_AT 4
#define RESTART_MS_MAX 200000 /* sometimes longer than the linger time */

void sim_run_finds(struct sim_run *run, const char *check, const char *fmt, ...)
{
    struct sim_finding *finding = &run->findings[run->n];
    va_list ap;

    if (run->n++ >= SIM_FINDINGS_MAX)
        return;
    finding->check = check;
    va_start(ap, fmt);
    vsnprintf(finding->text, sizeof(finding->text), fmt, ap);
    va_end(ap);
}

static void note(struct sim_world *world, enum sim_kind kind, int64_t number,
                 const char *text)
{
    sim_trace_add(
        &world->trace,
        (struct sim_record){ .at_ns = world->boot_ns,
                             .kind = kind,
                             .host = SIM_NOBODY,
                             .type = -1,
                             .epoch = world->life.epoch,
                             .number = number,
                             .text = sim_name(&world->trace.names, text) });
}

static void begin_life(struct sim_world *world)
{
    struct sim_life *life = &world->life;
    int64_t from_ns =
        world->boot_ns > world->healed_ns ? world->boot_ns : world->healed_ns;

    life->alive = true;
    life->number++;
    life->began_ns = world->boot_ns;
    life->until_ns = from_ns + SIM_STUCK_NS;
    life->utc_off_ns = world->utc_off_ns;
    life->epoch = SIM_UTC_NS + world->boot_ns + world->utc_off_ns;
    life->signals = -1;
    life->spins = 0;
    life->held = (struct sim_held){ 0 };
    if (life->known) /* work of an earlier run, done again, is progress */
        memset(life->known, 0, life->n_known);
    note(world, SIM_BEGIN, life->number, "");
}

/* A life that was killed leaves a pending signal and an open descriptor. */
static void clear_signals(struct sim_life *life)
{
    static const struct timespec now = { 0, 0 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigtimedwait(&set, NULL, &now) > 0)
        continue;
    if (life->signals >= 0)
        close(life->signals);
    life->signals = -1;
}

/* A function of its own, so that a longjmp() leaves no local variable
 * indeterminate. */
static int live(struct sim_run *run, struct spec *spec,
                const struct hosts *hosts, const struct sweep_options *options)
{
    struct sim_world *world = run->world;
    const struct sweep_io io = sim_life_io(world);
    struct sweep_options now = *options;
    struct err late = { "" };
    int out = setjmp(world->life.out);

    if (out != 0)
        return out;
    if (sim_rent_open(world, hosts, &now, &run->why) < 0) {
        run->code = EXIT_DATABASE;
        return SIM_OUT_ENDED;
    }
    sim_world_note(world, SIM_RENT, SIM_NOBODY, SIM_RUN_BEGINS);
    run->code =
        sweep_run_with(&io, spec, hosts, world->life.store, &now, &run->why);
    world->life.signals = -1; /* the reactor has closed it */
    sim_world_note(world, SIM_RENT, SIM_NOBODY, SIM_RUN_IS_OVER);
    if (sim_rent_close(world, &late) < 0)
        run->code = EXIT_DATABASE;
    return SIM_OUT_ENDED;
}

/* The confirmation in memory is of an earlier life.  A process that starts
 * reads it from the database, and makes one if it was lost with that life. */
static int recall_confirmation(struct sim_run *run, struct confirmation *is)
{
    int64_t found = 0;
    int rc = is && is->pass > 0
                 ? sql_number(store_db(run->world->life.store),
                              "SELECT count(*) FROM contest WHERE pass=?1",
                              &found, &run->why, "I", is->pass)
                 : 0;

    if (rc < 0 || !is || is->pass == 0 || found > 0)
        return rc;
    for (size_t i = 0; i < is->n_shapes; i++)
        free(is->shapes[i].name);
    free(is->shapes);
    is->shapes = NULL;
    is->n_shapes = 0;
    is->pass = 0;
    return 0;
}

static int one_life(struct sim_run *run, struct spec *spec,
                    const struct sweep_options *options, bool fuzz)
{
    struct sim_world *world = run->world;
    const struct hosts hosts = { world->scene.hosts, world->scene.n_hosts };
    int out;

    if (blank_db(sim_sweep_db(fuzz), &run->why) < 0 ||
        store_open(sim_sweep_db(fuzz), STORE_WRITE, &world->life.store,
                   &run->why) < 0 ||
        sql_run(store_db(world->life.store), "PRAGMA synchronous=OFF",
                &run->why) < 0 ||
        recall_confirmation(run, options->confirmation) < 0) {
        sim_run_finds(run, "exit", "the database: %s", run->why.text);
        return 0;
    }
    world->life.rents = world->life.store;
    if (fuzz && store_open(sim_sweep_db(false), STORE_WRITE, &world->life.rents,
                           &run->why) < 0)
        sim_run_finds(run, "exit", "the database: %s", run->why.text);
    if (world->life.number > 0 && world->boot_ns == world->life.began_ns)
        sim_world_run(world, world->boot_ns + NS_PER_MS); /* a later epoch */
    begin_life(world);
    run->why.text[0] = '\0';
    out = live(run, spec, &hosts, options);
    if (out == SIM_OUT_ENDED)
        note(world, SIM_END, run->code, run->why.text);
    else
        note(world, SIM_CRASH, out, "");
    for (size_t i = 0; i < hosts.n; i++)
        sim_host_thread_kill(world, i);
    sim_rent_died(world);
    sim_life_over(world);
    clear_signals(&world->life);
    store_close(world->life.store);
    if (fuzz)
        store_close(world->life.rents);
    world->life.store = world->life.rents = NULL;
    sim_rent_check_listed(run);
    return out;
}

/* Later findings of the life may be consequences of this one. */
static void check_held(struct sim_run *run)
{
    const struct sim_held *held = &run->world->life.held;

    if (held->at_ns > 0)
        sim_run_finds(run, "I7", "at %.1f s nothing will end this wait: %s",
                      (double)held->at_ns / (double)NS_PER_S, held->text);
}

/* Did the run end with an exit code that fits the scene?  A reference that
 * cannot be built is for the user to mend. */
static bool is_good_end(const struct sim_run *run)
{
    bool hopeless = run->world->scene.hopeless;

    if (hopeless)
        return run->code == 3 || run->code == 4;
    if ((run->code == EXIT_NO_HOST || run->code == EXIT_REFUSED ||
         run->code == EXIT_PARTIAL) &&
        sim_scene_has_other_model(&run->world->scene))
        return true;
    return run->code == 0 || run->code == 1 || run->code == 2;
}

/* A user sees the message, mends the cause, and starts the sweep again. */
static void wait_for_person(struct sim_world *world, bool healed)
{
    int64_t until_ns = world->boot_ns;

    if (healed && world->healed_ns > until_ns)
        until_ns = world->healed_ns;
    sim_world_run(world, until_ns + sim_between(world, 50, RESTART_MS_MAX) *
                                        NS_PER_MS);
}

/* The user lets it use more.  False if it had no cap. */
static bool raise_caps(struct sweep_caps *caps)
{
    bool had = caps->max_hours > 0 || caps->budget_usd > 0;

    caps->max_hours *= 3;
    caps->budget_usd *= 3;
    return had;
}

bool sim_run_lives(struct sim_run *run, struct spec *spec,
                   const struct sweep_options *options, bool fuzz)
{
    struct sim_world *world = run->world;
    struct sweep_options now = *options;
    char why[240];

    for (int lives = 0; lives < LIVES_MAX; lives++) {
        int64_t began_ns = world->boot_ns;
        int out = one_life(run, spec, &now, fuzz);

        check_held(run);
        if (out == SIM_OUT_STUCK || out == SIM_OUT_SPINS) {
            sim_stuck_why(run, fuzz, why, sizeof(why));
            sim_run_finds(run, "I7", "it %s at %.0f s: %s",
                          out == SIM_OUT_SPINS ? "spins" : "hangs",
                          (double)world->boot_ns / (double)NS_PER_S, why);
            return false;
        }
        if (out == SIM_OUT_ENDED && is_good_end(run))
            return run->code == 0;
        if (out == 0)
            return false;
        if (out == SIM_OUT_ENDED && run->code == EXIT_CAP &&
            raise_caps(&now.caps))
            began_ns = 0;
        if (out == SIM_OUT_ENDED && began_ns > world->healed_ns) {
            sim_run_finds(run, "exit", "code %d long after all is well: %s",
                          run->code, run->why.text);
            return false;
        }
        wait_for_person(world, out == SIM_OUT_ENDED);
        now.command = fuzz || options->confirmation || options->tool
                          ? options->command
                          : "resume";
    }
    sim_run_finds(run, "exit", "%d lives and no end", LIVES_MAX);
    return false;
}

void sim_run_seed(struct sim_run *run, uint64_t seed, enum sim_pass pass)
{
    sim_sweep_remove_db();
    sim_world_init(run->world, seed, pass, run->dial, run->full);
    run->n = 0;
    if (seed % CACHE_EVERY == CACHE_AT &&
        artifact_cache_open(sim_sweep_cache(), ARTIFACT_CACHE_BYTES,
                            &run->cache, &run->why) < 0)
        sim_run_finds(run, "exit", "%s", run->why.text);
    sim_pass_run(run);
    sim_rent_check_end(run);
    sim_check(run);
    artifact_cache_close(run->cache);
    run->cache = NULL;
}
