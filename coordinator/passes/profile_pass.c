/* A profile in the reactor: run each requested configuration and shape once
 * under ncu, or under each tool of compute-sanitizer, on the first GPU. */
#include <stdlib.h>
#include <string.h>

#include "common/l2_mode.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/passes/passes.h"
#include "coordinator/plan/ncu.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/plan/sanitizer.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/stored/pass_rows.h"

struct task {
    int unit, shape;
    int round;
    int64_t order; /* 0: not made yet */
    bool over;
};

struct profile_run {
    struct task *tasks;
    int n;
    /* of the message made last */
    const char *ncu[NCU_ARGUMENTS_MAX];
    struct sanitizer_command sanitizer;
};

/* Each profile of a database has its own round; with compute-sanitizer, one
 * for each of its tools. */
static int next_round(struct sweep *sweep, int runs, int *out, struct err *err)
{
    const bool checks = runs > 1;
    int64_t last;
    int rc = pass_rows_profile_round(
        sweep->mail.store, checks ? SANITIZER_ROUNDS : 1,
        checks ? INT64_MAX : SANITIZER_ROUNDS, &last, err);

    *out = rc < 0 ? 0 : (int)(last / runs + 1) * runs;
    return rc;
}

static void add_tasks(struct profile_run *profile, int unit, int shape,
                      int round, int runs)
{
    for (int run = 0; run < runs; run++)
        profile->tasks[profile->n++] =
            (struct task){ .unit = unit, .shape = shape, .round = round + run };
}

static int profile_lead(struct sweep *sweep, struct pass *pass, struct err *err)
{
    const struct sweep_tool *tool = sweep->reactor.options->tool;
    struct profile_run *profile;
    int units = plan_units(sweep->work.plan),
        shapes = plan_shapes(sweep->work.plan);
    int runs = tool && tool->is_sanitizer ? SANITIZER_TOOLS : 1, round, rc;

    if (!tool)
        return 0;
    rc = next_round(sweep, runs, &round, err);
    if (rc < 0)
        return rc;
    pass->state = profile = mem_new(1, sizeof(*profile));
    profile->tasks = mem_new((size_t)units * (size_t)shapes * (size_t)runs,
                             sizeof(struct task));
    for (int unit = 0; unit < units; unit++)
        for (int shape = 0; shape < shapes; shape++) {
            sched_settled(sweep->work.sched, JOB_MEASURE, unit, shape, true);
            if (plan_gate(sweep->work.plan, unit, shape) < 0)
                add_tasks(profile, unit, shape, round, runs);
        }
    return 1;
}

static void profile_free(struct pass *pass)
{
    struct profile_run *profile = pass->state;

    free(profile->tasks);
    free(profile);
}

static int first_host(const struct sweep *sweep)
{
    for (size_t host = 0; host < sweep->fleet.n; host++)
        if (sweep->fleet.hosts[host].state == HOST_STATE_READY &&
            !sweep->fleet.hosts[host].suspect &&
            sweep->fleet.hosts[host].n_gpus > 0)
            return (int)host;
    return -1;
}

static void profile_turn(struct sweep *sweep, struct pass *pass)
{
    struct profile_run *profile = pass->state;
    int host = first_host(sweep);

    for (int i = 0; host >= 0 && i < profile->n; i++) {
        struct task *task = &profile->tasks[i];

        if (task->order || task->over)
            continue;
        task->order =
            orders_place(sweep, &(struct sched_order){ .unit = task->unit,
                                                       .shape = task->shape,
                                                       .host = host,
                                                       .gpu = 0,
                                                       .purpose = SCHED_PROFILE,
                                                       .pass = pass->index,
                                                       .round = task->round });
        task->over = !task->order; /* it cannot be built */
    }
}

/* An earlier run made order 0, so it has no task here. */
static void profile_ended(struct sweep *sweep, struct pass *pass,
                          const struct sched_lease *lease,
                          const struct msg *result)
{
    struct profile_run *profile = pass->state;

    (void)sweep;
    (void)result;
    for (int i = 0; lease->order && i < profile->n; i++)
        if (profile->tasks[i].order == lease->order)
            profile->tasks[i].over = true;
}

static bool profile_is_over(const struct sweep *sweep, const struct pass *pass)
{
    const struct profile_run *profile = pass->state;

    (void)sweep;
    for (int i = 0; i < profile->n; i++)
        if (!profile->tasks[i].over)
            return false;
    return true;
}

static void profile_waits_for(const struct sweep *sweep,
                              const struct pass *pass, pass_wait_fn *tell,
                              void *arg)
{
    const struct profile_run *profile = pass->state;
    bool is_host_here = first_host(sweep) >= 0;

    for (int i = 0; i < profile->n; i++) {
        const struct task *task = &profile->tasks[i];
        struct pass_wait wait = { .what = "a profile",
                                  .unit = task->unit,
                                  .order = task->order };

        if (task->over)
            continue;
        if (task->order)
            wait.end = PASS_WAIT_ORDER;
        else if (!is_host_here)
            wait.end = PASS_WAIT_HOST;
        tell(arg, &wait);
    }
}

static void fill_command(const struct sweep *sweep, struct profile_run *profile,
                         int round, struct texts *out)
{
    const char *entry = sweep->work.spec->kernel.entry;
    bool warm = l2_mode_is(sweep->work.spec->measure.l2, L2_MODE_WARM);
    enum sanitizer_tool tool;

    if (sanitizer_of_round(round, &tool)) {
        sanitizer_command(tool, entry, &profile->sanitizer);
        *out = (struct texts){ profile->sanitizer.arguments,
                               profile->sanitizer.n };
    } else {
        *out = (struct texts){ profile->ncu,
                               ncu_command(entry, !warm, profile->ncu) };
    }
}

static int profile_fill(struct sweep *sweep, struct pass *pass,
                        const struct sched_lease *lease, struct msg_tool *out,
                        char key[HASH_HEX], struct err *err)
{
    struct profile_run *profile = pass->state;
    const struct plan_sampling sampling = { .least = 1, .most = 1 };
    int rc = plan_measure(sweep->work.plan, lease->unit, lease->shape,
                          &sampling, &out->launch.request, err);

    if (rc < 0)
        return rc;
    plan_task_key(sweep->work.plan, lease->unit, lease->shape, key);
    fill_command(sweep, profile, lease->round, &out->command);
    out->bundle = out->ask = "";
    out->launch.artifact = sweep->work.artifacts[lease->unit];
    out->launch.reference = sweep->work.artifacts[plan_units(sweep->work.plan)];
    out->launch.inputs = plan_inputs(sweep->work.plan, lease->shape);
    out->launch.limit_ms = sweep->reactor.options->tool->limit_ms;
    return 0;
}

/* The runner's exit status does not matter: a kernel that fails under the tool
 * is what it was run for. */
static void judge_sanitizer(struct msg_ran *out, struct err *why)
{
    struct sanitizer_report *report = mem_new(1, sizeof(*report));
    bool ran = outcome_is(out->result.outcome, OUTCOME_RAN);

    if (!ran && !outcome_is(out->result.outcome, OUTCOME_FAILED)) {
        free(report);
        return;
    }
    if (sanitizer_read(out->output, out->log, report, why) == 0) {
        out->result.outcome = outcome_name(OUTCOME_RAN);
        out->result.detail = "";
    } else if (ran || *report->trouble) {
        if (ran)
            out->result.outcome = outcome_name(OUTCOME_GARBAGE);
        out->result.detail = why->text;
    }
    free(report);
}

/* If the profiler failed, its output says why. */
static const char *profile_judge(const struct sweep *sweep,
                                 const struct pass *pass, struct msg_ran *out,
                                 struct err *why)
{
    struct ncu_profile *profile;
    bool ran = outcome_is(out->result.outcome, OUTCOME_RAN);
    enum sanitizer_tool tool;

    (void)sweep;
    (void)pass;
    if (sanitizer_of_round(out->work.id.round, &tool)) {
        judge_sanitizer(out, why);
        return sanitizer_name(tool);
    }
    profile = mem_new(1, sizeof(*profile));
    if ((ran || outcome_is(out->result.outcome, OUTCOME_FAILED)) &&
        ncu_read(out->output, out->log, profile, why) < 0) {
        if (ran)
            out->result.outcome = outcome_name(OUTCOME_GARBAGE);
        out->result.detail = why->text;
    }
    free(profile);
    return "ncu";
}

const struct pass_ops profile_pass = {
    .name = "profile",
    .purposes = 1U << SCHED_PROFILE,
    .start.lead = profile_lead,
    .turn = profile_turn,
    .ended = profile_ended,
    .commands.fill = profile_fill,
    .commands.judge = profile_judge,
    .waits_for = profile_waits_for,
    .is_over = profile_is_over,
    .free = profile_free,
};
