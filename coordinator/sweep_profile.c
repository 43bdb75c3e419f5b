/* A profile in the reactor: each configuration and shape that was asked for,
 * once, under a profiler on the first GPU there is. */
#include "coordinator/sweep_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/ncu.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"

/* A launch is replayed some forty times, each with its memory restored. */
#define PROFILE_LIMIT_MS 600000

struct task {
    int unit, shape;
    int64_t order; /* 0: not made yet */
    bool over;
};

struct sweep_profile {
    struct task *tasks;
    int n;
    int round;
    const char *command[NCU_ARGUMENTS_MAX];
};

/* Every profile of a database has a round of its own. */
static int next_round(struct sweep *sweep, int *out, struct err *err)
{
    int64_t last;
    int rc = sql_number(store_db(sweep->store),
                        "SELECT coalesce(max(round), 0) FROM tool"
                        " WHERE purpose='profile'",
                        &last, err);

    *out = (int)last + 1;
    return rc;
}

int sweep_profile_begin(struct sweep *sweep, struct err *err)
{
    struct sweep_profile *profile = mem_new(1, sizeof(*profile));
    int units = plan_units(sweep->plan), shapes = plan_shapes(sweep->plan);
    int rc = next_round(sweep, &profile->round, err);

    if (rc < 0) {
        free(profile);
        return rc;
    }
    profile->tasks =
        mem_new((size_t)units * (size_t)shapes, sizeof(struct task));
    for (int unit = 0; unit < units; unit++)
        for (int shape = 0; shape < shapes; shape++) {
            sched_settled(sweep->sched, JOB_MEASURE, unit, shape, true);
            if (plan_gate(sweep->plan, unit, shape) < 0)
                profile->tasks[profile->n++] =
                    (struct task){ .unit = unit, .shape = shape };
        }
    sweep->profile = profile;
    return 0;
}

void sweep_profile_free(struct sweep *sweep)
{
    if (!sweep->profile)
        return;
    free(sweep->profile->tasks);
    free(sweep->profile);
}

static int first_host(const struct sweep *sweep)
{
    for (size_t host = 0; host < sweep->n_boxes; host++)
        if (sweep->boxes[host].state == BOX_READY &&
            !sweep->boxes[host].suspect && sweep->boxes[host].n_gpus > 0)
            return (int)host;
    return -1;
}

void sweep_profile_turn(struct sweep *sweep)
{
    struct sweep_profile *profile = sweep->profile;
    int host = profile ? first_host(sweep) : -1;

    for (int i = 0; host >= 0 && i < profile->n; i++) {
        struct task *task = &profile->tasks[i];

        if (task->order || task->over)
            continue;
        task->order = sweep_order(
            sweep, &(struct sched_order){ .unit = task->unit,
                                          .shape = task->shape,
                                          .host = host,
                                          .gpu = 0,
                                          .purpose = SCHED_PROFILE,
                                          .round = profile->round });
        task->over = !task->order; /* it cannot be built */
    }
}

void sweep_profile_ended(struct sweep *sweep, int64_t order)
{
    struct sweep_profile *profile = sweep->profile;

    for (int i = 0; profile && i < profile->n; i++)
        if (profile->tasks[i].order == order)
            profile->tasks[i].over = true;
}

bool sweep_profile_is_over(const struct sweep *sweep)
{
    for (int i = 0; i < sweep->profile->n; i++)
        if (!sweep->profile->tasks[i].over)
            return false;
    return true;
}

int sweep_profile_fill(struct sweep *sweep, const struct sched_lease *lease,
                       struct msg *msg, char key[HASH_HEX], struct err *err)
{
    struct sweep_profile *profile = sweep->profile;
    const struct plan_sampling sampling = { .least = 1, .most = 1 };
    bool warm = strcmp(sweep->spec->measure.l2, "warm") == 0;
    int rc = plan_measure(sweep->plan, lease->unit, lease->shape, &sampling,
                          msg, err);

    if (rc < 0)
        return rc;
    plan_task_key(sweep->plan, lease->unit, lease->shape, key);
    msg->command.n =
        ncu_command(sweep->spec->kernel.entry, !warm, profile->command);
    msg->command.items = profile->command;
    msg->bundle = "";
    msg->artifact = sweep->artifacts[lease->unit];
    msg->reference = sweep->artifacts[plan_units(sweep->plan)];
    msg->limit_ms = PROFILE_LIMIT_MS;
    return 0;
}
