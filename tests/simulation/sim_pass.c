#include "tests/simulation/sim_pass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/result/fuzz.h"
#include "coordinator/search/strategy.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/simulation/sim_held.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

#define CHOSEN_MAX 3 /* the baseline and the two best */

static struct sweep_caps caps_of(const struct sim_world *world)
{
    return (struct sweep_caps){ .budget_usd = world->scene.budget_usd,
                                .max_hours = world->scene.max_hours };
}

static struct sweep_options options_of(const struct sim_run *run,
                                       const char *command)
{
    return (struct sweep_options){ .device = run->world->scene.device,
                                   .passes = sim_held_passes(),
                                   .arch = "sm_89",
                                   .command = command,
                                   .hosts_file = "",
                                   .cache = run->cache,
                                   .stay.linger_s = SWEEP_LINGER_S,
                                   .attempts = SWEEP_ATTEMPTS,
                                   .caps = caps_of(run->world),
                                   .watch.quiet = true };
}

static bool screen(struct sim_run *run, struct spec *spec)
{
    static const char *const strategies[] = { "random",  "lhs",   "tpe",
                                              "genetic", "local", "bayes" };
    struct sim_world *world = run->world;
    struct sweep_options options = options_of(run, "sweep");
    struct search_settings settings = { .strategy = "exhaustive",
                                        .objective = "headline" };
    bool race = world->scene.pass == SIM_PASS_RACE;

    if (world->scene.pass == SIM_PASS_SEARCH || race) {
        settings.strategy = strategies[sim_between(world, 0, 5)];
        settings.evaluations = sim_between(world, 3, 12);
        settings.seed = sim_between(world, 1, 1000);
        if (world->scene.full)
            settings.in_flight = sim_between(world, 0, 12);
        if (race)
            settings.race = (struct successive_halving_rules){ 2, 2, 8 };
        options.search_settings = &settings;
    }
    return sim_run_lives(run, spec, &options, false);
}

/* ---- the configurations to confirm ---- */

struct few {
    char keys[CHOSEN_MAX][HASH_HEX]; /* the baseline is the first */
    size_t n;
    struct config_selection choice;
    int64_t sweep;
};

/* Turns {"A":1,"B":2} into A=1,B=2. */
static void plain_params(const char *json, char *out, size_t size)
{
    size_t n = 0;

    for (; *json && n + 1 < size; json++)
        if (*json == ':')
            out[n++] = '=';
        else if (!strchr("{}\" ", *json))
            out[n++] = *json;
    out[n] = '\0';
}

static int choose(struct sim_run *run, const struct spec *spec, struct few *out)
{
    static const char text[] =
        "SELECT c.key, c.params, max(o.median_s) FROM config c"
        " JOIN outcome o ON o.config=c.key WHERE o.outcome='correct'"
        " GROUP BY c.key ORDER BY c.baseline DESC, 3, 1 LIMIT 3";
    struct sqlite3_stmt *stmt = NULL;
    struct err *err = &run->why;
    struct store *store;
    char params[256];
    int rc = store_open(sim_sweep_db(false), STORE_READ, &store, err);

    if (rc < 0)
        return rc;
    rc = sql_prepare(store_db(store), text, &stmt, err);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        memcpy(out->keys[out->n++], sql_text(stmt, 0), HASH_HEX);
        plain_params(sql_text(stmt, 1), params, sizeof(params));
        rc = config_selection_named(&out->choice, spec, params, err);
    }
    sql_free(stmt);
    if (rc == 0)
        rc = sql_number(store_db(store), "SELECT max(id) FROM sweep",
                        &out->sweep, err, "");
    store_close(store);
    return rc;
}

/* ---- the fuzz proof ---- */

static int judge(void *arg, const struct plan *plan, struct store *store,
                 struct err *err)
{
    struct fuzz fuzz = { 0 };
    int rc = fuzz_collect(plan, arg, store, &fuzz, err);

    fuzz_fini(&fuzz);
    return rc;
}

static bool prove(struct sim_run *run, struct spec *spec,
                  const struct few *chosen)
{
    struct sweep_options options = options_of(run, "fuzz");
    struct plan_ask ask = { .choice = &chosen->choice };
    const struct spec_measure measure = spec->measure;
    bool done;

    ask.shapes = spec_fuzz_shapes(spec, options.device, &ask.n_shapes);
    options.ask = &ask;
    options.done.tell = judge;
    options.done.arg = spec;
    spec->measure.least = spec->measure.most = 1;
    spec->measure.warmups = 0;
    done = sim_run_lives(run, spec, &options, true);
    spec->measure = measure;
    return done;
}

/* ---- the blocks of the confirmation ---- */

/* In every second world the rule is against an external baseline. */
static void make_contest(const struct sim_run *run, const struct spec *spec,
                         const struct few *chosen, struct confirmation *out)
{
    const struct spec_confirm *confirm = &spec->confirm;

    *out = (struct confirmation){
        .sweep = chosen->sweep,
        .seed = spec->measure.seed,
        .blocks = (int)confirm->blocks,
        .samples = (int)confirm->samples,
        .looks = { .group = (int)confirm->blocks_group,
                   .most = (int)confirm->blocks_max },
        .rules = { confirm->alpha, confirm->floor, confirm->target },
        .possible = (int64_t)chosen->n,
        .cut = (double)NAN,
    };
    if (confirm->against && sim_mix(run->world, "against") % 2 == 1)
        out->against = mem_strdup(confirm->against);
    for (size_t i = 0; i < chosen->n; i++)
        confirmation_add(out, chosen->keys[i],
                         i == 0 ? CONFIRMATION_BASELINE : CONFIRMATION_FINALIST,
                         "");
}

static void confirm(struct sim_run *run, struct spec *spec,
                    const struct few *chosen)
{
    struct sweep_options options = options_of(run, "confirm");
    struct plan_ask ask = { .choice = &chosen->choice };
    struct confirmation confirmation;

    ask.shapes = spec_shapes(spec, options.device, &ask.n_shapes);
    options.ask = &ask;
    make_contest(run, spec, chosen, &confirmation);
    options.confirmation = &confirmation;
    (void)sim_run_lives(run, spec, &options, false);
    confirmation_fini(&confirmation);
}

/* Under ncu, or under compute-sanitizer: four runs instead of one. */
static void profile(struct sim_run *run, struct spec *spec,
                    const struct few *chosen)
{
    const struct sweep_tool tool = {
        .is_sanitizer = sim_mix(run->world, "sanitizer") % 2 == 1,
        .limit_ms = 600000,
    };
    struct sweep_options options = options_of(run, "profile");
    struct plan_ask ask = { .choice = &chosen->choice, .n_shapes = 1 };
    size_t n;

    ask.shapes = spec_shapes(spec, options.device, &n);
    options.ask = &ask;
    options.tool = &tool;
    (void)sim_run_lives(run, spec, &options, false);
}

/* As 'fa-coord space --build' does. */
static void build(struct sim_run *run, struct spec *spec)
{
    struct sweep_options options = options_of(run, "build");

    options.builds_only = true;
    options.cover = sim_mix(run->world, "cover") % 2 == 1;
    (void)sim_run_lives(run, spec, &options, false);
}

static void finish(struct sim_run *run, struct spec *spec,
                   const struct few *chosen)
{
    enum sim_pass pass = run->world->scene.pass;
    bool all = pass == SIM_PASS_ALL;

    if ((all || pass == SIM_PASS_FUZZ) && !prove(run, spec, chosen))
        return;
    if ((all || pass == SIM_PASS_CONFIRM) && chosen->n > 1)
        confirm(run, spec, chosen);
    if (all || pass == SIM_PASS_PROFILE)
        profile(run, spec, chosen);
}

void sim_pass_run(struct sim_run *run)
{
    const struct sim_scene *scene = &run->world->scene;
    struct few chosen = { .n = 0 };
    struct spec *spec;

    if (sim_sweep_load(scene->kind, scene->pass == SIM_PASS_CANARY, &spec,
                       &run->why) < 0) {
        sim_run_finds(run, "exit", "%s", run->why.text);
        return;
    }
    if (scene->pass == SIM_PASS_BUILDS) {
        build(run, spec);
        return;
    }
    if (!screen(run, spec) || scene->pass < SIM_PASS_FUZZ)
        return;
    if (choose(run, spec, &chosen) < 0)
        sim_run_finds(run, "exit", "%s", run->why.text);
    else if (chosen.n > 0)
        finish(run, spec, &chosen);
    config_selection_fini(&chosen.choice);
}
