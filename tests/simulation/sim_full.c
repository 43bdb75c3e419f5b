#include "tests/simulation/sim_full.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "tests/simulation/sim_fault.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_world.h"

#define ALL_PERCENT 15
#define BUILDS_PERCENT 5
#define FAULTS_MAX 4

/* Not the anchor: its model is that of the sweep, and its box its own. */
static void draw_gpus(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;

    for (size_t i = 0; i < scene->n_hosts; i++) {
        if (i == scene->anchor)
            continue;
        scene->is_other[i] = sim_chance(world, 10);
        if (!scene->is_other[i] && sim_chance(world, 10))
            scene->box[i] = (size_t)sim_between(world, 0, (int64_t)i);
        if (scene->is_other[i] || scene->box[i] != i)
            sim_world_note(world, SIM_SCENE, (int)i,
                           scene->is_other[i] ? "has another model"
                                              : "is a box with two names");
    }
}

static void draw_caps(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;
    double usd_per_h = 0;

    for (size_t i = 0; i < scene->n_hosts; i++)
        usd_per_h += scene->hosts[i].has_rate ? scene->hosts[i].rate : 0;
    if (sim_chance(world, 15))
        scene->max_hours = (double)sim_between(world, 5, 300) / 3600;
    if (sim_chance(world, 25))
        scene->budget_usd =
            usd_per_h * (double)sim_between(world, 5, 300) / 3600;
}

static void draw_pass(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;
    bool cuda = strcmp(scene->device, "cuda") == 0;

    if (sim_chance(world, ALL_PERCENT))
        scene->pass = SIM_PASS_ALL;
    else if (cuda && sim_chance(world, BUILDS_PERCENT))
        scene->pass = SIM_PASS_BUILDS;
}

void sim_full_draw(struct sim_world *world)
{
    struct sim_scene *scene = &world->scene;

    scene->full = true;
    if (scene->hopeless)
        return;
    draw_pass(world);
    draw_gpus(world);
    draw_caps(world);
    if (sim_chance(world, 50))
        scene->doubles = (int)sim_between(world, 1, 30);
    if (scene->faults > 0)
        sim_fault_plan_more(world, (int)sim_between(world, 0, FAULTS_MAX));
    if (sim_chance(world, 60))
        sim_rent_draw(world);
}
