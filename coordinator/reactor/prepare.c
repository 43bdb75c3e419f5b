#include "coordinator/reactor/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/reactor/description.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/stored/stored_work.h"

/* Builds that were not asked for are settled in advance. */
static int leave_out(struct sweep *sweep, struct err *err)
{
    int units = plan_units(sweep->work.plan), rc = 0;
    int64_t *chosen = NULL;
    size_t n = 0;

    /* Nothing is compared with the reference. */
    if (!sweep->reactor.options->unbuilt)
        sched_settled(sweep->work.sched, JOB_BUILD, units, 0, true);
    if (sweep->reactor.options->cover)
        rc = space_cover(sweep->work.space, &chosen, &n, err);
    for (int unit = 0; chosen && unit < units; unit++) {
        const struct plan_unit *u = plan_unit(sweep->work.plan, unit);

        /* units are not in the order of points, so look them up one by one */
        if (u->baseline || space_cover_has(chosen, n, u->point))
            continue;
        sched_settled(sweep->work.sched, JOB_BUILD, unit, 0, true);
        sweep->work.count.left_out++;
    }
    free(chosen);
    return rc;
}

/* Everything that is needed before a host can get work, once the space is
 * known. */
static int make_ready(struct sweep *sweep, struct space_gate_count *counts,
                      struct err *err)
{
    int64_t passed = 0;
    int rc = space_count(sweep->work.space, counts, &passed, err);

    if (rc == 0)
        rc = pass_choose(sweep, passed, err);
    if (rc == 0) /* no pass has made the plan */
        rc = plan_make(sweep->work.spec, sweep->work.space,
                       sweep->reactor.options->ask,
                       sweep->reactor.options->device, sweep->work.arch,
                       &sweep->work.plan, err);
    if (rc < 0)
        return rc;
    rc = 0;
    if (sweep->reactor.options->builds_only)
        plan_drop_shapes(sweep->work.plan);
    sweep->work.incumbents = incumbents_new(plan_shapes(sweep->work.plan));
    sweep->work.sched = sched_new((struct sched_limits){
        .units = plan_units(sweep->work.plan),
        .shapes = plan_shapes(sweep->work.plan),
        .hosts = (int)sweep->fleet.n,
        .attempts = sweep->reactor.options->attempts,
    });
    sweep->work.artifacts =
        mem_new((size_t)plan_units(sweep->work.plan) + 1, HASH_HEX);
    sweep->work.vanished =
        mem_new((size_t)plan_units(sweep->work.plan) + 1, sizeof(int));
    if (sweep->reactor.options->builds_only)
        rc = leave_out(sweep, err);
    if (rc == 0)
        rc = pass_lead(sweep, err);
    if (rc == 0 && !sweep->passes.lead)
        rc = description_put(sweep, counts, passed, err);
    return err_only(rc);
}

int prepare_plan(struct sweep *sweep, struct err *err)
{
    struct space_gate_count *counts =
        mem_new(sweep->work.spec->space.n_gates, sizeof(*counts));
    int rc;

    if (!device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CUDA))
        snprintf(sweep->work.arch, sizeof(sweep->work.arch), "%s",
                 sweep->reactor.options->device);
    else
        snprintf(sweep->work.arch, sizeof(sweep->work.arch), "sm_%d",
                 (int)sweep->work.facts.arch);
    rc = space_open(
        sweep->work.spec, &sweep->work.facts, sweep->reactor.options->device,
        replay_points(sweep->work.spec->replay), &sweep->work.space, err);
    if (rc == 0)
        rc = make_ready(sweep, counts, err);
    free(counts);
    if (rc == 0)
        rc = resume_take_past(sweep, err);
    if (rc == 0)
        rc = pass_begin(sweep, err);
    for (size_t i = 0; rc == 0 && i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].state == HOST_STATE_READY)
            host_events_up(sweep, i);
    return rc;
}

/* Returns 1, or 0 if no earlier run of this device came to a plan. */
static int recall_facts(struct sweep *sweep, struct err *err)
{
    struct store_sweep was = { .device = "" };
    struct past_runs *past = NULL;
    int rc = past_runs_open(sweep->mail.store, &past, err);

    if (rc == 0)
        rc = past_runs_sweep(past, &was, err);
    if (rc == 1)
        rc = strcmp(was.device, sweep->reactor.options->device) != 0 ? 0
             : gpu_arch_parse(was.facts, &sweep->work.facts, err) < 0
                 ? ERR_STORE
                 : 1;
    past_runs_close(past);
    return rc;
}

int prepare_begin(struct sweep *sweep, bool recalled, struct err *err)
{
    const char *arch = sweep->reactor.options->arch;
    const struct gpu_arch_facts *facts = gpu_arch_find(arch);
    int rc = stored_work_usd(sweep->mail.store, &sweep->fleet.usd_before, err);

    if (rc < 0)
        return rc;
    sweep->fleet.usd_before += sweep->reactor.options->caps.usd_before;
    if (!device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU) &&
        !sweep->reactor.options->builds_only) {
        rc = recalled ? recall_facts(sweep, err) : 0;
        return rc == 1 ? prepare_plan(sweep, err) : rc;
    }
    sweep->work.facts = *facts;
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name), "%s",
             gpu_arch_gpu_name(facts));
    return prepare_plan(sweep, err);
}
