#include "tests/simulation/sim_scene.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

#define BREAKS_MAX 4

static const char *const names[SIM_PASSES] = {
    [SIM_PASS_ANY] = "any",         [SIM_PASS_SCREEN] = "screen",
    [SIM_PASS_SEARCH] = "search",   [SIM_PASS_RACE] = "race",
    [SIM_PASS_CANARY] = "canary",   [SIM_PASS_FUZZ] = "fuzz",
    [SIM_PASS_CONFIRM] = "confirm", [SIM_PASS_PROFILE] = "profile",
    [SIM_PASS_ALL] = "all",         [SIM_PASS_BUILDS] = "builds",
};

static const char *const vices[SIM_VICES] = {
    [SIM_HONEST] = "honest",   [SIM_BEATS_ONLY] = "beats only",
    [SIM_CLAIMS] = "claims",   [SIM_LATE] = "late",
    [SIM_LIES] = "lies",       [SIM_FLOODS] = "floods",
    [SIM_REFUSES] = "refuses", [SIM_EVICTS] = "evicts",
};

const char *sim_vice_name(enum sim_vice vice)
{
    return vices[vice];
}

bool sim_scene_has_other_model(const struct sim_scene *scene)
{
    bool has = false;

    for (size_t i = 0; i < scene->n_hosts; i++)
        has = has || scene->is_other[i];
    return has;
}

const char *sim_pass_name(enum sim_pass pass)
{
    return names[pass];
}

enum sim_pass sim_pass_named(const char *name)
{
    for (int i = 0; i < SIM_PASSES; i++)
        if (strcmp(names[i], name) == 0)
            return (enum sim_pass)i;
    return SIM_PASSES;
}

/* All other passes follow a screening, so half of the seeds are screenings. */
static enum sim_pass draw_pass(struct sim_world *world)
{
    static const enum sim_pass others[] = {
        SIM_PASS_SEARCH, SIM_PASS_RACE,    SIM_PASS_CANARY,
        SIM_PASS_FUZZ,   SIM_PASS_CONFIRM, SIM_PASS_PROFILE
    };

    if (sim_chance(world, 50))
        return SIM_PASS_SCREEN;
    return others[sim_between(world, 0, 5)];
}

static void draw_host(struct sim_world *world, size_t i)
{
    struct sim_scene *scene = &world->scene;
    struct host *host = &scene->hosts[i];
    bool anchor = i == scene->anchor;

    *host = (struct host){ .role = HOST_BOTH, .line = (int)i + 1 };
    snprintf(host->name, sizeof(host->name), "box%zu", i);
    snprintf(host->address, sizeof(host->address), "box%zu", i);
    host->slots = (int)sim_between(world, 1, 3);
    host->has_rate = sim_chance(world, 50);
    host->rate = 0.5 * (double)sim_between(world, 1, 4);
    scene->gpus[i] = 1;
    scene->box[i] = i;
    scene->vices[i] = SIM_HONEST;
    if (!anchor && sim_chance(world, 40))
        host->role = sim_chance(world, 50) ? HOST_GPU : HOST_BUILDER;
    if (strcmp(scene->device, "cuda") == 0 && sim_chance(world, 40))
        scene->gpus[i] = (int)sim_between(world, 1, SIM_GPUS_MAX);
    if (!anchor && sim_chance(world, 25))
        scene->vices[i] = (enum sim_vice)sim_between(world, 1, SIM_VICES - 1);
}

static void tell(struct sim_world *world, size_t i)
{
    static const char *const roles[] = {
        [HOST_BOTH] = "both", [HOST_GPU] = "gpu", [HOST_BUILDER] = "builder"
    };
    const struct sim_scene *scene = &world->scene;
    const struct host *host = &scene->hosts[i];
    char text[160];

    snprintf(text, sizeof(text), "%s: role=%s slots=%d gpus=%d %s%s%s",
             host->name, roles[host->role], host->slots, scene->gpus[i],
             sim_vice_name(scene->vices[i]),
             i == scene->anchor ? ", the anchor" : "",
             host->dial.back ? ", dials back" : "");
    sim_world_note(world, SIM_SCENE, (int)i, text);
}

/* The coordinator waits for them without end, so one of them comes back. */
static void draw_dial(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;

    scene->hopeless = false;
    scene->breaks = (int)sim_between(world, 0, BREAKS_MAX);
    if (sim_chance(world, 50)) /* others would mend what a lost message does */
        scene->faults = 0;
    for (size_t i = 0; i < scene->n_hosts; i++)
        scene->hosts[i].dial.back = i == scene->anchor || sim_chance(world, 70);
}

void sim_scene_draw(struct sim_world *world, enum sim_pass pass, bool dial)
{
    static const int64_t slow[] = { 1, 1, 1, 4, 10 };
    struct sim_scene *scene = &world->scene;

    *scene = (struct sim_scene){ .pass = pass, .dial = dial };
    if (pass == SIM_PASS_ANY)
        scene->pass = draw_pass(world);
    scene->device = sim_chance(world, 80) ? "cuda" : "cpu";
    scene->kind = (int)sim_between(world, 0, SIM_SWEEPS - 1);
    scene->n_hosts = (size_t)sim_between(world, 1, SIM_HOSTS_MAX);
    if (dial && sim_chance(world, 50)) /* nobody does the work of another */
        scene->n_hosts = 1;
    scene->anchor = (size_t)sim_between(world, 0, (int64_t)scene->n_hosts - 1);
    scene->hopeless = sim_chance(world, 3);
    scene->bad_percent =
        sim_chance(world, 30) ? 0 : (int)sim_between(world, 5, 40);
    scene->slow = slow[sim_between(world, 0, 4)];
    scene->chunk_bytes =
        sim_chance(world, 4) ? 600000 : (size_t)sim_between(world, 1, 4000);
    scene->horizon_ns = sim_between(world, 2, 90) * NS_PER_S;
    scene->faults = sim_chance(world, 10) ? 0 : (int)sim_between(world, 1, 9);
    for (size_t i = 0; i < scene->n_hosts; i++)
        draw_host(world, i);
    if (dial)
        draw_dial(world);
    for (size_t i = 0; i < scene->n_hosts; i++)
        tell(world, i);
}
