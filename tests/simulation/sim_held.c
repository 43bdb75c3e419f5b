#include "tests/simulation/sim_held.h"

#include "coordinator/passes/passes.h"
#include "coordinator/state/held_work.h"
#include "coordinator/state/reactor.h"
#include "tests/simulation/sim_world.h"

#define EVERY_TURNS 8 /* and in each turn after rows were written */

static int watch_begin(struct sweep *sweep, struct pass *pass, struct err *err)
{
    (void)err;
    pass->state = sweep->reactor.io.clock.self; /* the world */
    return 0;
}

static void note(void *arg, const struct held_work *work)
{
    struct sim_world *world = arg;

    if (work->is_held || world->life.held.at_ns > 0)
        return;
    world->life.held.at_ns = world->boot_ns;
    held_work_text(work, world->life.held.text, sizeof(world->life.held.text));
}

static void watch_poll(struct sweep *sweep, struct pass *pass,
                       struct pollfd *fds)
{
    struct sim_world *world = pass->state;
    struct sim_held *held = &world->life.held;

    (void)fds;
    if (held->turns++ % EVERY_TURNS != 0 &&
        held->pending == sweep->mail.pace.rows)
        return;
    held->pending = sweep->mail.pace.rows;
    if (!sweep->reactor.ending && !sweep->reactor.stopping)
        held_work_list(sweep, note, world);
}

static void watch_free(struct pass *pass)
{
    pass->state = NULL;
}

static const struct pass_ops watch_pass = {
    .name = "watch",
    .start.begin = watch_begin,
    .poll = watch_poll,
    .free = watch_free,
};

const struct pass_ops *const *sim_held_passes(void)
{
    static const struct pass_ops *passes[PASSES_MAX + 1];
    int n = 0;

    for (; sweep_passes[n]; n++)
        passes[n] = sweep_passes[n];
    passes[n] = &watch_pass;
    return passes;
}
