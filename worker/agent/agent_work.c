/* agent_work.c - leases: accepted or refused, started, ended */
#include <assert.h>
#include <limits.h>
#include <stddef.h>

#include "common/log.h"
#include "worker/agent/agent_files.h"
#include "worker/agent/agent_internal.h"

#define CHUNKS_A_TURN 4 /* 1 MiB of artifacts, then other work */

static int check_hash(const char *hash, bool needed, struct err *err)
{
    if (hash_is_hex(hash) || (!needed && !*hash))
        return 0;
    return err_set(err, ERR_INPUT, "'%s' is not a hash", hash);
}

static int check_files(const struct msg *msg, struct err *err)
{
    const struct msg_launch *launch = msg_launch(msg);
    bool measure = msg->type == MSG_MEASURE;
    int rc = 0;

    if (msg->type == MSG_BUILD)
        rc = check_hash(msg->build.bundle, true, err);
    else if (msg->type == MSG_TOOL)
        rc = check_hash(msg->tool.bundle, false, err);
    if (rc == 0 && launch)
        rc = check_hash(launch->artifact, measure, err);
    if (rc == 0 && launch)
        rc = check_hash(launch->reference, measure, err);
    for (size_t i = 0; rc == 0 && launch && i < launch->inputs.n; i++)
        rc = check_hash(launch->inputs.items[i], true, err);
    if (rc == 0 && msg->type == MSG_TOOL && msg->tool.command.n == 0)
        rc = err_set(err, ERR_INPUT, "the command is empty");
    return rc;
}

/* The GPU of a measurement or a tool; ERR_INPUT if the lease cannot run
 * here. */
static int place_of(struct agent *agent, const struct msg *msg, int *place,
                    struct err *err)
{
    const struct msg_launch *launch = msg_launch(msg);

    if (!agent->queue || agent->end.how != AGENT_RUNS)
        return err_set(err, ERR_INPUT, "the worker is not ready");
    if (resources_state(agent->bench) != RESOURCES_READY)
        return err_set(err, ERR_INPUT, "%s", resources_why(agent->bench));
    if (journal_is_stuck(agent->journal))
        return err_set(err, ERR_INPUT,
                       "no result can be stored in %s: make room there, or "
                       "name another folder with workdir=",
                       agent->instance->dir);
    if (check_files(msg, err) < 0)
        return ERR_INPUT;
    if (!launch)
        return 0;
    *place = resources_gpu_index(agent->bench, launch->gpu);
    if (*place < 0)
        return err_set(err, ERR_INPUT, "no GPU '%s' here", launch->gpu);
    if (gpu_state(resources_gpu(agent->bench, (size_t)*place)) == GPU_TROUBLE)
        return err_set(
            err, ERR_INPUT, "GPU '%s': %s", launch->gpu,
            gpu_trouble(resources_gpu(agent->bench, (size_t)*place)));
    return 0;
}

static bool is_here(struct agent *agent, int file, const char *hash)
{
    return file == LEASE_BUNDLE
               ? transfers_bundle(agent->transfers, hash) != NULL
               : cache_has(agent->cache, hash);
}

void agent_add_lease(struct agent *agent, struct msg *msg)
{
    struct lease *lease = NULL;
    struct err err;
    int place = QUEUE_BUILDS, rc = place_of(agent, msg, &place, &err);

    if (rc == 0)
        rc = queue_add(agent->queue, msg, place, &lease, &err);
    if (rc != 0) {
        agent_refuse(agent, msg, err.text);
        return;
    }
    assert(lease);
    for (int i = 0; i < LEASE_FILES; i++)
        if (lease->missing[i] && is_here(agent, i, lease->missing[i]))
            queue_lease_found(lease, lease->missing[i]);
}

static void end_work(struct agent *agent, const struct lease *lease,
                     int64_t now_ns)
{
    if (!lease->running)
        return;
    if (lease->place == QUEUE_BUILDS)
        slots_cancel(resources_slots(agent->bench), lease->number);
    else if (lease->msg.type == MSG_TOOL)
        tools_cancel(resources_tools(agent->bench), lease->number);
    else
        gpu_cancel(resources_gpu(agent->bench, (size_t)lease->place), now_ns);
}

void agent_cancel(struct agent *agent, int64_t epoch,
                  const struct msg_cancel *cancel, int64_t now_ns)
{
    struct lease *lease = agent->queue ? queue_first(agent->queue) : NULL;
    struct lease *next;

    for (; lease; lease = next) {
        next = lease->next;
        if (!queue_lease_is_cancelled(lease, epoch, cancel))
            continue;
        end_work(agent, lease, now_ns);
        queue_remove(agent->queue, lease);
    }
}

static void drop_work(struct agent *agent, bool measurements, int64_t now_ns)
{
    struct lease *lease = agent->queue ? queue_first(agent->queue) : NULL;
    struct lease *next;

    for (; lease; lease = next) {
        next = lease->next;
        if (lease->msg.type == MSG_MEASURE && !measurements)
            continue;
        end_work(agent, lease, now_ns);
        queue_remove(agent->queue, lease);
    }
}

void agent_drop_long_work(struct agent *agent, int64_t now_ns)
{
    drop_work(agent, false, now_ns);
}

void agent_drop_work(struct agent *agent, int64_t now_ns)
{
    drop_work(agent, true, now_ns);
}

void agent_arrived(struct agent *agent, const char *hash)
{
    if (agent->queue)
        queue_arrived(agent->queue, hash);
}

void agent_missing(struct agent *agent, const char *hash)
{
    struct lease *lease = agent->queue ? queue_first(agent->queue) : NULL;
    struct lease *next;
    char why[80 + HASH_HEX];

    snprintf(why, sizeof(why),
             "%s is missing: no host has it any more; it will be built again",
             hash);
    transfers_forget_want(agent->transfers, hash);
    for (; lease; lease = next) {
        next = lease->next;
        if (!queue_lease_lacks(lease, hash))
            continue;
        agent_refuse(agent, &lease->msg, why);
        queue_remove(agent->queue, lease);
    }
}

static void ask_for_files(struct agent *agent, int64_t now_ns)
{
    struct lease *lease = queue_first(agent->queue);

    if (!agent->connection.welcomed)
        return;
    for (; lease; lease = lease->next)
        for (int i = 0; i < LEASE_FILES; i++) {
            const char *hash = lease->missing[i];
            const char *what = i == LEASE_BUNDLE   ? MSG_WANT_BUNDLE
                               : i >= LEASE_INPUTS ? MSG_WANT_INPUT
                                                   : MSG_WANT_ARTIFACT;
            struct msg msg;

            if (!hash)
                continue;
            if (is_here(agent, i, hash)) /* by another worker */
                queue_lease_found(lease, hash);
            else if (transfers_want(agent->transfers, what, hash, now_ns, &msg))
                agent_send(agent, &msg);
        }
}

static int start_build(struct agent *agent, struct lease *lease,
                       struct err *err)
{
    const struct msg_build *build = &lease->msg.build;
    const struct msg_bundle *bundle =
        transfers_bundle(agent->transfers, build->bundle);
    struct build_job job = { .key = build->work.key,
                             .source = build->source,
                             .header = build->header,
                             .entry = build->entry,
                             .standard = build->standard,
                             .flags = build->flags,
                             .arch = build->arch,
                             .arguments = build->arguments,
                             .limit_ns = build->limit_ms * NS_PER_MS };
    int rc;

    if (!bundle) { /* pushed out by newer ones: ask again */
        lease->missing[LEASE_BUNDLE] = build->bundle;
        return 0;
    }
    job.names = bundle->names;
    job.contents = bundle->contents;
    rc = slots_add(resources_slots(agent->bench), lease->number, &job, err);
    if (rc == 0)
        agent_say_started(agent, lease);
    return rc;
}

static int start_measurement(struct agent *agent, struct lease *lease,
                             int64_t now_ns, struct err *err)
{
    const struct msg_launch *launch = &lease->msg.measure.launch;
    struct agent_files files;
    const struct gpu_job job = { .lease = lease->number,
                                 .request = launch->request,
                                 .artifact = files.artifact,
                                 .reference = files.reference,
                                 .inputs = files.inputs,
                                 .limit_ns = launch->limit_ms * NS_PER_MS,
                                 .fresh = lease->msg.measure.fresh != 0 };
    int rc;

    if (!agent_files_find(agent, lease, &files))
        return 0;
    rc = gpu_measure(resources_gpu(agent->bench, (size_t)lease->place), &job,
                     now_ns, err);
    if (rc == 0)
        agent_say_started(agent, lease);
    return rc;
}

static int start(struct agent *agent, struct lease *lease, int64_t now_ns,
                 struct err *err)
{
    if (lease->place == QUEUE_BUILDS)
        return start_build(agent, lease, err);
    return lease->msg.type == MSG_TOOL
               ? agent_start_tool(agent, lease, now_ns, err)
               : start_measurement(agent, lease, now_ns, err);
}

/* Start what can start at a place, and refuse what cannot. */
static void start_at(struct agent *agent, int place, int64_t now_ns)
{
    struct lease *lease;

    while ((lease = queue_next(agent->queue, place))) {
        struct err err;
        int rc = start(agent, lease, now_ns, &err);

        if (rc == 0)
            continue;
        agent_refuse(agent, &lease->msg, err.text);
        queue_remove(agent->queue, lease);
    }
}

static void start_all(struct agent *agent, int64_t now_ns)
{
    if (agent->end.how != AGENT_RUNS)
        return;
    start_at(agent, QUEUE_BUILDS, now_ns);
    for (size_t i = 0; i < resources_n_gpus(agent->bench); i++)
        if (gpu_state(resources_gpu(agent->bench, i)) == GPU_IDLE &&
            !tools_hold(resources_tools(agent->bench), (int)i))
            start_at(agent, (int)i, now_ns);
}

static void send_chunks(struct agent *agent)
{
    struct msg msg;

    for (int i = 0; i < CHUNKS_A_TURN; i++) {
        if (!transfers_next_chunk(agent->transfers, &msg))
            return;
        agent_send(agent, &msg);
    }
}

/* Why the lease can never run here, or NULL. */
static const char *doom_of(struct agent *agent, const struct lease *lease)
{
    struct gpu *gpu;

    if (resources_state(agent->bench) == RESOURCES_TROUBLE)
        return resources_why(agent->bench);
    if (lease->place == QUEUE_BUILDS)
        return NULL;
    gpu = resources_gpu(agent->bench, (size_t)lease->place);
    return gpu_state(gpu) == GPU_TROUBLE ? gpu_trouble(gpu) : NULL;
}

/* After a permanent failure, refuse all leases. */
static void give_back_doomed(struct agent *agent, int64_t now_ns)
{
    struct lease *lease = queue_first(agent->queue), *next;

    for (; lease; lease = next) {
        const char *why = doom_of(agent, lease);

        next = lease->next;
        if (!why)
            continue;
        if (lease->msg.type == MSG_TOOL)
            end_work(agent, lease, now_ns);
        agent_refuse(agent, &lease->msg, why);
        queue_remove(agent->queue, lease);
    }
}

void agent_work(struct agent *agent, int64_t now_ns)
{
    if (agent->link && agent->connection.welcomed)
        send_chunks(agent);
    if (!agent->queue)
        return;
    agent_collect_results(agent, now_ns);
    agent_collect_tools(agent, now_ns);
    give_back_doomed(agent, now_ns);
    if (resources_state(agent->bench) == RESOURCES_READY)
        start_all(agent, now_ns);
    ask_for_files(agent, now_ns);
}
