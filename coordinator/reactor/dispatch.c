#include "coordinator/reactor/dispatch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/reactor/results.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/text/exit_code.h"

#define BUILD_LIMIT_MS 300000 /* docs/reliability.md F15 */
/* In addition to the runner's own limit: references, 60 s each at most, of
 * which two that slow have time, and launches that are only checked. */
#define MEASURE_SLACK_MS 125000
/* Emulation shapes are small, and only the worker's limit ends a loop without a
 * device primitive. */
#define EMULATED_SLACK_MS 30000
#define UNSENT_REST_NS NS_PER_S
#define REQUEST_MAX (64 << 10) /* of a recorded kernel: a handful of lines */

static void identify(const struct sweep *sweep, const struct sched_lease *lease,
                     struct msg *msg)
{
    const struct plan_unit *unit = plan_unit(sweep->work.plan, lease->unit);
    bool reference = lease->unit == plan_units(sweep->work.plan);
    bool measure = lease->stage == JOB_MEASURE;
    bool tool = measure && sched_is_tool(lease->purpose);
    struct msg_work *work;

    msg->type = tool ? MSG_TOOL : measure ? MSG_MEASURE : MSG_BUILD;
    work = msg_work_of(msg);
    work->lease = lease->id;
    work->id = (struct msg_identity){
        .sweep = sweep->work.spec->name,
        .config = reference ? unit->source_key : unit->key,
        .shape = measure ? plan_shape_name(sweep->work.plan, lease->shape) : "",
        .purpose = measure ? sched_purpose_name(lease->purpose)
                           : work_build_purpose(&sweep->work, lease->unit),
        .round = lease->round,
        .stage = tool ? "tool" : job_stage_name(lease->stage),
        .attempt = lease->attempt,
    };
    if (measure)
        (tool ? &msg->tool.launch : &msg->measure.launch)->gpu =
            sweep->fleet.hosts[lease->host].gpus[lease->gpu].uuid;
}

/* A pass may set the number of samples: a comparison takes the same number of
 * each candidate, however slow it is, and a race has its own numbers. */
static struct plan_sampling sampling_of(const struct sweep *sweep,
                                        const struct sched_lease *lease)
{
    int n = pass_samples(sweep, lease);

    if (n > 0)
        return (struct plan_sampling){ .least = n,
                                       .most = n,
                                       .repeats = pass_repeats(sweep, lease) };
    return plan_sampling(
        sweep->work.plan,
        incumbents_high_s(sweep->work.incumbents, lease->shape));
}

/* The arguments of a recorded kernel depend on the GPU.  They go to 'request',
 * which outlives the message. */
static void add_recorded(struct sweep *sweep, const struct sched_lease *lease,
                         struct buf *request, struct msg *msg)
{
    buf_printf(request, "%s", msg->measure.launch.request);
    replay_put_arguments(sweep->work.spec->replay, &msg->measure.work.id,
                         sweep->fleet.hosts[lease->host].host->name, lease->gpu,
                         request);
    msg->measure.launch.request = buf_text(request);
}

static int fill_tool(struct sweep *sweep, const struct sched_lease *lease,
                     struct msg *msg, char key[HASH_HEX], struct err *err)
{
    struct pass *pass = pass_at(sweep, lease->pass);

    return pass->ops->commands.fill(sweep, pass, lease, &msg->tool, key, err);
}

static int fill(struct sweep *sweep, const struct sched_lease *lease,
                struct msg *msg, char key[HASH_HEX], struct err *err)
{
    struct msg_launch *launch = &msg->measure.launch;
    struct plan_sampling sampling;
    int rc;

    identify(sweep, lease, msg);
    msg_work_of(msg)->key = key;
    if (lease->stage == JOB_BUILD) {
        msg->build.limit_ms = dispatch_limit_ms(sweep, JOB_BUILD);
        plan_build_key(sweep->work.plan, lease->unit,
                       sweep->fleet.hosts[lease->host].worker.toolkit, key);
        return plan_build(sweep->work.plan, lease->unit, &msg->build, err);
    }
    if (msg->type == MSG_TOOL)
        return fill_tool(sweep, lease, msg, key, err);
    launch->artifact = sweep->work.artifacts[lease->unit];
    launch->reference = sweep->work.artifacts[plan_units(sweep->work.plan)];
    msg->measure.fresh = lease->fresh;
    launch->limit_ms = dispatch_limit_ms(sweep, JOB_MEASURE);
    plan_task_key(sweep->work.plan, lease->unit, lease->shape, key);
    sampling = sampling_of(sweep, lease);
    rc = plan_measure(sweep->work.plan, lease->unit, lease->shape, &sampling,
                      &launch->request, err);
    launch->inputs = plan_inputs(sweep->work.plan, lease->shape);
    return rc;
}

int64_t dispatch_limit_ms(const struct sweep *sweep, enum job_stage stage)
{
    if (stage == JOB_BUILD)
        return BUILD_LIMIT_MS;
    return (int64_t)(sweep->work.spec->measure.timeout_s * 1e3) +
           (device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU)
                ? EMULATED_SLACK_MS
                : MEASURE_SLACK_MS);
}

void dispatch_granted(struct sweep *sweep, const struct sched_lease *lease)
{
    assert((size_t)lease->id == sweep->work.n_issued + 1);
    sweep->work.issued = mem_grow(sweep->work.issued, (size_t)lease->id,
                                  sizeof(*sweep->work.issued));
    sweep->work.issued[sweep->work.n_issued++] = (struct issued_lease){
        .unit = lease->unit,
        .shape = lease->shape,
        .stage = lease->stage,
        .host = lease->host,
        .granted_ns = reactor_now(sweep),
        .limit_ns = dispatch_limit_ms(sweep, lease->stage) * NS_PER_MS,
        .order = lease->order,
        .pass = lease->pass,
        .purpose = lease->purpose,
        .round = lease->round
    };
    budget_lease(&sweep->fleet.hosts[lease->host].budget);
}

int dispatch_record_lease(struct sweep *sweep, const struct sched_lease *lease)
{
    struct msg msg = { 0 };

    identify(sweep, lease, &msg);
    return records_put_lease(sweep, lease, &msg);
}

/* Record what the sched grants now as leases.  Returns how many. */
static size_t grant_all(struct sweep *sweep, struct sched_lease **out)
{
    struct sched_lease lease;
    size_t n = 0;

    *out = NULL;
    while (!sweep->reactor.ending && sched_next(sweep->work.sched, &lease)) {
        *out = mem_grow(*out, n + 1, sizeof(**out));
        (*out)[n++] = lease;
        dispatch_granted(sweep, &lease);
        dispatch_record_lease(sweep, &lease);
    }
    return n;
}

/* Its connection has ended, and may come back without a HELLO. */
static void take_back(struct sweep *sweep, const struct sched_lease *lease)
{
    results_refuse(sweep, *lease);
    sweep->fleet.hosts[lease->host].conduct.rests_ns =
        reactor_now(sweep) + UNSENT_REST_NS;
    sched_host_pause(sweep->work.sched, lease->host, true);
}

static int hand_out(struct sweep *sweep, const struct sched_lease *lease,
                    struct err *err)
{
    struct msg msg = { 0 };
    char key[HASH_HEX];
    struct buf recorded;
    int rc = fill(sweep, lease, &msg, key, err);

    buf_init(&recorded, REQUEST_MAX);
    if (rc == 0 && msg.type == MSG_MEASURE && sweep->work.spec->replay)
        add_recorded(sweep, lease, &recorded, &msg);
    if (rc == 0) {
        struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
        const struct msg_launch *launch = msg_launch(&msg);

        grant->sent_ns = reactor_now(sweep);
        grant->limit_ns =
            (launch ? launch->limit_ms : msg.build.limit_ms) * NS_PER_MS;
        if (launch)
            hash_of(launch->gpu, strlen(launch->gpu), grant->gpu);
        if (msg.type == MSG_MEASURE) {
            snprintf(grant->artifact, HASH_HEX, "%s",
                     msg.measure.launch.artifact);
            grant->samples_most = sampling_of(sweep, lease).most;
        }
        if (!outbox_send(sweep, (size_t)lease->host, &msg))
            take_back(sweep, lease);
    }
    buf_fini(&recorded);
    return rc;
}

void dispatch_ask(struct sweep *sweep)
{
    if (!sweep->work.sched || sweep->reactor.stopping)
        return;
    orders_drop(sweep);
    pass_turn(sweep);
}

/* A lease is committed before it is sent, so that the next run finds it if the
 * coordinator is killed before the result comes. */
void dispatch_leases(struct sweep *sweep)
{
    struct sched_lease *leases;
    struct err err;
    size_t n;

    if (!sweep->work.sched || sweep->reactor.stopping ||
        sweep->reactor.closed_ns)
        return;
    n = grant_all(sweep, &leases);
    if (n > 0 && outbox_commit(sweep, &err) < 0)
        reactor_fail(sweep, EXIT_DATABASE, &err);
    for (size_t i = 0; i < n && !sweep->reactor.ending; i++)
        if (hand_out(sweep, &leases[i], &err) < 0)
            reactor_fail(sweep, EXIT_INPUT, &err);
    free(leases);
}
