#include "coordinator/reactor/prepare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/notes/description.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/replay/replay.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/state/reactor.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/stored/stored_times.h"
#include "coordinator/stored/stored_work.h"

/* Builds that were not asked for are settled in advance. */
static int leave_out(struct sweep *sweep, struct err *err)
{
    int units = plan_units(sweep->work.plan), rc = 0;
    int64_t *chosen = NULL;
    size_t n = 0;

    /* Nothing is compared with the reference. */
    if (!sweep->reactor.options->unbuilt.tell)
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

    sweep->work.count.passed = passed;
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
        .hosts = kept_artifacts_home(sweep) + 1,
        .attempts = sweep->reactor.options->attempts,
    });
    sched_host_up(sweep->work.sched, kept_artifacts_home(sweep), 0, 0, 0);
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

/* Builders may begin before a GPU is rented, with the facts that an earlier run
 * had, or with those of the table.  Returns 1, or 0 if there are none. */
static int believe(struct sweep *sweep, struct err *err)
{
    const struct sweep_rental *rental = &sweep->reactor.options->stay.rental;
    int rc = rental->refuted ? recall_facts(sweep, err) : 0;

    if (rc == 0 && rental->refuted && rental->believed) {
        sweep->work.facts = *rental->believed;
        rc = 1;
    }
    if (rc < 1)
        return rc;
    sweep->fleet.is_believed = true;
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name), "%s",
             rental->believed ? gpu_arch_gpu_name(rental->believed)
                              : "that of an earlier run");
    progress_say(sweep->reactor.progress,
                 "builds begin before a GPU is there: it is believed to be %s",
                 sweep->work.gpu_name);
    return rc;
}

/* Builders may begin before a GPU is rented.  A record without facts has no
 * gate that asks for them. */
static int prepare_from_record(struct sweep *sweep,
                               const struct gpu_arch_facts *otherwise,
                               struct err *err)
{
    const struct gpu_arch_facts *facts = replay_facts(sweep->work.spec->replay);

    sweep->work.facts = facts ? *facts : *otherwise;
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name),
             "%.200s (recorded)",
             replay_device_shown(sweep->work.spec->replay));
    return prepare_plan(sweep, err);
}

static void add_held(void *arg, const struct store_held *held)
{
    struct sweep *sweep = arg;

    bill_add(&sweep->fleet.before, held->end_ns - held->start_ns,
             held->rate_usd_per_h);
}

/* A replay takes the recorded times, sped up. */
static int learn_times(struct sweep *sweep, struct err *err)
{
    const struct sweep_caps *caps = &sweep->reactor.options->caps;
    const struct replay *replay = sweep->work.spec->replay;
    struct stored_times was;
    double speed_up = replay ? replay_speed_up(replay) : 1;
    int rc;

    sweep->fleet.past =
        reserve_times_default(hosts_are_local(sweep->fleet.list));
    if (caps->max_hours <= 0 && caps->budget_usd <= 0)
        return 0;
    rc = stored_times_load(sweep->mail.store, &was, err);
    if (rc == 0) {
        struct reserve_times known = { was.start_s, was.build_s, was.measure_s,
                                       was.external_s };

        if (caps->learnt)
            known = reserve_times_or(known, caps->learnt);
        sweep->fleet.past_builds = !isnan(known.build_s);
        sweep->fleet.past = reserve_times_or(known, &sweep->fleet.past);
    }
    sweep->fleet.past.build_s /= speed_up;
    sweep->fleet.past.measure_s /= speed_up;
    return rc;
}

/* Which machines are worth it is planned by what this database taught, else by
 * another sweep.  A replay takes the recorded times, sped up. */
static int learn_paces(struct sweep *sweep, struct err *err)
{
    const struct reserve_times *learnt = sweep->reactor.options->caps.learnt;
    const struct replay *replay = sweep->work.spec->replay;
    double speed_up = replay ? replay_speed_up(replay) : 1;
    double *build_s = &sweep->fleet.build_s;
    double *measurement_s = &sweep->fleet.measurement_s;
    int rc = stored_work_pace(sweep->mail.store, build_s, measurement_s, err);

    if (rc < 0 || !learnt)
        return rc;
    if (isnan(*build_s))
        *build_s = learnt->build_s / speed_up;
    if (isnan(*measurement_s))
        *measurement_s = learnt->measure_s / speed_up;
    return 0;
}

int prepare_begin(struct sweep *sweep, bool recalled, struct err *err)
{
    const char *arch = sweep->reactor.options->arch;
    const struct gpu_arch_facts *facts = gpu_arch_find(arch);
    int rc = stored_work_held(sweep->mail.store, add_held, sweep, err);

    if (rc == 0)
        rc = learn_paces(sweep, err);
    if (rc == 0)
        rc = learn_times(sweep, err);
    if (rc < 0)
        return rc;
    if (sweep->reactor.options->stay.rental.machines &&
        sweep->work.spec->replay)
        return prepare_from_record(sweep, facts, err);
    if (!device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU) &&
        !sweep->reactor.options->builds_only) {
        rc = recalled ? recall_facts(sweep, err) : believe(sweep, err);
        return rc == 1 ? prepare_plan(sweep, err) : rc;
    }
    sweep->work.facts = *facts;
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name), "%s",
             gpu_arch_gpu_name(facts));
    return prepare_plan(sweep, err);
}
