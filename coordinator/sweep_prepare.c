#include "coordinator/sweep_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"

/* Builds that are not asked for are settled before they begin. */
static int leave_out(struct sweep *sweep, struct err *err)
{
    int units = plan_units(sweep->plan), rc = 0;
    int64_t *chosen = NULL;
    size_t n = 0, at = 0;

    /* Nobody compares with the reference. */
    sched_settled(sweep->sched, JOB_BUILD, units, 0, true);
    if (sweep->options->cover)
        rc = space_cover(sweep->space, &chosen, &n, err);
    for (int unit = 0; chosen && unit < units; unit++) {
        const struct plan_unit *u = plan_unit(sweep->plan, unit);

        if (u->baseline)
            continue;
        while (at < n && chosen[at] < u->point)
            at++;
        if (at < n && chosen[at] == u->point)
            continue;
        sched_settled(sweep->sched, JOB_BUILD, unit, 0, true);
        sweep->n_left_out++;
    }
    free(chosen);
    return rc;
}

/* Everything that a host needs to get work, once the space is known. */
static int make_ready(struct sweep *sweep, struct space_gate_count *counts,
                      struct err *err)
{
    int64_t passed = 0;
    int rc = space_count(sweep->space, counts, &passed, err);

    if (rc == 0)
        rc = sweep_search_choose(sweep, passed, err);
    if (rc == 0)
        rc = sweep->search
                 ? sweep_search_plan(sweep, err)
                 : plan_make(sweep->spec, sweep->space, sweep->options->ask,
                             sweep->options->device, sweep->arch, &sweep->plan,
                             err);
    if (rc < 0)
        return rc;
    if (sweep->options->builds_only)
        plan_drop_shapes(sweep->plan);
    sweep->incumbents = incumbents_new(plan_shapes(sweep->plan));
    sweep->sched = sched_new((struct sched_limits){
        .units = plan_units(sweep->plan),
        .shapes = plan_shapes(sweep->plan),
        .hosts = (int)sweep->n_boxes,
        .attempts = sweep->options->attempts,
    });
    sweep_search_hold(sweep);
    sweep->artifacts = mem_new((size_t)plan_units(sweep->plan) + 1, HASH_HEX);
    if (sweep->options->builds_only)
        rc = leave_out(sweep, err);
    if (rc == 0)
        rc = sweep->options->contest ? sweep_contest_begin(sweep, err)
             : sweep->options->profile
                 ? sweep_profile_begin(sweep, err)
                 : sweep_describe(sweep, counts, passed, err);
    return rc;
}

int sweep_prepare(struct sweep *sweep, struct err *err)
{
    struct space_gate_count *counts =
        mem_new(sweep->spec->n_gates, sizeof(*counts));
    int rc;

    if (strcmp(sweep->options->device, "cuda") != 0)
        snprintf(sweep->arch, sizeof(sweep->arch), "%s",
                 sweep->options->device);
    else
        snprintf(sweep->arch, sizeof(sweep->arch), "sm_%d",
                 (int)sweep->facts.arch);
    rc = space_open(sweep->spec, &sweep->facts, sweep->options->device,
                    &sweep->space, err);
    if (rc == 0)
        rc = make_ready(sweep, counts, err);
    free(counts);
    if (rc == 0)
        rc = sweep_take_past(sweep, err);
    if (rc == 0)
        sweep_search_begin(sweep);
    if (rc == 0)
        rc = sweep_canary_begin(sweep, err);
    for (size_t i = 0; rc == 0 && i < sweep->n_boxes; i++)
        if (sweep->boxes[i].state == BOX_READY)
            sweep_box_up(sweep, i);
    return rc;
}

int sweep_begin(struct sweep *sweep, struct err *err)
{
    const char *arch = sweep->options->arch;
    const struct arch_facts *facts = arch_find(arch);
    int rc = sweep_past_usd(sweep, &sweep->usd_before, err);

    if (rc < 0)
        return rc;
    sweep->usd_before += sweep->options->usd_before;
    if (strcmp(sweep->options->device, "cpu") != 0 &&
        !sweep->options->builds_only)
        return 0; /* the GPU's own facts are awaited */
    sweep->facts = *facts;
    snprintf(sweep->gpu_name, sizeof(sweep->gpu_name), "%s",
             arch_gpu_name(facts));
    return sweep_prepare(sweep, err);
}
