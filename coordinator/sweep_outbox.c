#include "coordinator/sweep_state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/contest.h"
#include "coordinator/replay.h"
#include "coordinator/spec.h"

#define BUILD_LIMIT_MS 300000 /* RELIABILITY F15: 300 s for one nvcc */
/* Over the runner's own limit: a reference for each of two seeds, 60 s each. */
#define MEASURE_SLACK_MS 125000
/* Emulation shapes are small, and only the worker's limit ends a loop without
 * a device primitive in it. */
#define EMULATED_SLACK_MS 30000

void sweep_send(struct sweep *sweep, size_t host, struct msg *msg)
{
    struct err err;

    msg->epoch = sweep->epoch;
    if (server_send(sweep->server, host, msg, &err) < 0)
        log_line(LOG_W, "SEND-FAILED", "host=%s type=%s why=%s",
                 sweep->boxes[host].host->name, msg_type_name(msg->type),
                 err.text);
}

bool sweep_is_connected(const struct box *box)
{
    return box->state == BOX_READY || box->state == BOX_GREETED;
}

void sweep_send_all(struct sweep *sweep, struct msg *msg)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        if (sweep_is_connected(&sweep->boxes[i]))
            sweep_send(sweep, i, msg);
}

static void send_acks(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];
    const char *nonces[ACKS_MAX];
    struct msg msg = { .type = MSG_ACK };

    if (box->n_acks == 0)
        return;
    for (size_t i = 0; i < box->n_acks; i++)
        nonces[i] = box->acks[i];
    msg.nonces = (struct texts){ nonces, box->n_acks };
    sweep_send(sweep, host, &msg);
    box->n_acks = 0;
}

int sweep_commit(struct sweep *sweep, struct err *err)
{
    int rc;

    if (sweep->pending == 0)
        return 0;
    rc = store_commit(sweep->store, err);
    if (rc < 0)
        return rc;
    sweep->pending = 0;
    for (size_t host = 0; host < sweep->n_boxes; host++)
        send_acks(sweep, host);
    return 0;
}

void sweep_acknowledge(struct sweep *sweep, size_t host, const char *nonce)
{
    struct box *box = &sweep->boxes[host];

    /* Full: the worker offers it again after this batch is acknowledged. */
    if (box->n_acks < ACKS_MAX)
        snprintf(box->acks[box->n_acks++], HASH_HEX, "%s", nonce);
    sweep_dirty(sweep);
}

static int unit_of_artifact(const struct sweep *sweep, const char *hash)
{
    for (int unit = 0; unit <= plan_units(sweep->plan); unit++)
        if (strcmp(sweep->artifacts[unit], hash) == 0)
            return unit;
    return -1;
}

static void tell_missing(struct sweep *sweep, size_t host, const char *hash)
{
    struct msg msg = { .type = MSG_MISSING, .hash = hash };

    sweep_send(sweep, host, &msg);
}

static void want_bundle(struct sweep *sweep, size_t host, const char *hash)
{
    const int units[] = { 0, plan_units(sweep->plan) };
    struct msg tool = { .type = MSG_BUNDLE };

    for (size_t i = 0; i < 2; i++) {
        struct msg msg = { .type = MSG_BUNDLE };

        plan_bundle(sweep->plan, units[i], &msg);
        if (strcmp(msg.hash, hash) == 0) {
            sweep_send(sweep, host, &msg);
            return;
        }
    }
    if (sweep_tool_bundle(sweep, hash, &tool)) {
        sweep_send(sweep, host, &tool);
        return;
    }
    tell_missing(sweep, host, hash);
}

/* Ask the host that has it; without one, it must be built again. */
static void want_artifact(struct sweep *sweep, size_t host, const char *hash)
{
    int unit = unit_of_artifact(sweep, hash);
    int home = unit < 0 ? -1 : sched_home(sweep->sched, unit);
    struct msg msg = { .type = MSG_FETCH, .hash = hash };
    bool asked = false;

    if (home < 0 || (size_t)home == host ||
        sweep->boxes[home].state != BOX_READY) {
        if (unit >= 0 && (home < 0 || (size_t)home == host))
            sched_vanished(sweep->sched, unit);
        tell_missing(sweep, host, hash);
        return;
    }
    for (size_t i = 0; i < sweep->n_wants; i++)
        asked = asked || strcmp(sweep->wants[i].hash, hash) == 0;
    sweep->wants =
        mem_grow(sweep->wants, sweep->n_wants + 1, sizeof(*sweep->wants));
    snprintf(sweep->wants[sweep->n_wants].hash, HASH_HEX, "%s", hash);
    sweep->wants[sweep->n_wants++].host = (int)host;
    if (!asked)
        sweep_send(sweep, (size_t)home, &msg);
}

void sweep_want(struct sweep *sweep, size_t host, const struct msg *msg)
{
    if (strcmp(msg->what, "bundle") == 0)
        want_bundle(sweep, host, msg->hash);
    else
        want_artifact(sweep, host, msg->hash);
}

static void forget_wants(struct sweep *sweep, const char *hash)
{
    size_t kept = 0;

    for (size_t i = 0; i < sweep->n_wants; i++)
        if (strcmp(sweep->wants[i].hash, hash) != 0)
            sweep->wants[kept++] = sweep->wants[i];
    sweep->n_wants = kept;
}

void sweep_artifact(struct sweep *sweep, size_t host, const struct msg *msg)
{
    struct msg out = { .type = MSG_ARTIFACT,
                       .hash = msg->hash,
                       .offset = msg->offset,
                       .total = msg->total,
                       .chunk = msg->chunk };

    for (size_t i = 0; i < sweep->n_wants; i++)
        if (strcmp(sweep->wants[i].hash, msg->hash) == 0 &&
            sweep->wants[i].host != (int)host)
            sweep_send(sweep, (size_t)sweep->wants[i].host, &out);
    if (msg->offset + (int64_t)msg->chunk.len >= msg->total)
        forget_wants(sweep, msg->hash);
}

void sweep_missing(struct sweep *sweep, size_t host, const char *hash)
{
    int unit = unit_of_artifact(sweep, hash);

    for (size_t i = 0; i < sweep->n_wants; i++)
        if (strcmp(sweep->wants[i].hash, hash) == 0)
            tell_missing(sweep, (size_t)sweep->wants[i].host, hash);
    forget_wants(sweep, hash);
    if (unit >= 0 && sched_home(sweep->sched, unit) == (int)host)
        sched_vanished(sweep->sched, unit);
}

static void identify(const struct sweep *sweep, const struct sched_lease *lease,
                     struct msg *msg)
{
    const struct plan_unit *unit = plan_unit(sweep->plan, lease->unit);
    bool reference = lease->unit == plan_units(sweep->plan);
    bool measure = lease->stage == JOB_MEASURE;
    bool tool = measure && sched_is_tool(lease->purpose);

    msg->type = tool ? MSG_TOOL : measure ? MSG_MEASURE : MSG_BUILD;
    msg->lease = lease->id;
    msg->id = (struct msg_identity){
        .sweep = sweep->spec->name,
        .config = reference ? unit->source_key : unit->key,
        .shape = measure ? plan_shape_name(sweep->plan, lease->shape) : "",
        .purpose = measure     ? sched_purpose_name(lease->purpose)
                   : reference ? "reference"
                               : "kernel",
        .round = lease->round,
        .stage = tool      ? "tool"
                 : measure ? "measure"
                           : "build",
        .attempt = lease->attempt,
    };
    if (measure)
        msg->gpu = sweep->boxes[lease->host].gpus[lease->gpu].uuid;
}

/* Who compares wants as many of each, however slow it is; a race says itself
 * how many. */
static struct plan_sampling sampling_of(const struct sweep *sweep,
                                        const struct sched_lease *lease)
{
    int n;

    if (lease->purpose == SCHED_CANARY)
        n = sweep->spec->measure.canary_samples;
    else if (lease->purpose == SCHED_CONFIRM)
        n = sweep->options->contest->samples;
    else
        n = sweep_race_samples(sweep, lease);
    if (n > 0)
        return (struct plan_sampling){ .least = n, .most = n };
    return plan_sampling(sweep->plan,
                         incumbents_high_s(sweep->incumbents, lease->shape));
}

/* What a recorded kernel is launched with depends on the GPU. */
static void add_recorded(struct sweep *sweep, const struct sched_lease *lease,
                         struct msg *msg)
{
    struct buf *request = &sweep->request;

    buf_clear(request);
    buf_printf(request, "%s", msg->request);
    replay_put_arguments(sweep->spec->replay, &msg->id,
                         sweep->boxes[lease->host].host->name, lease->gpu,
                         request);
    msg->request = buf_text(request);
}

static int fill(struct sweep *sweep, const struct sched_lease *lease,
                struct msg *msg, char key[HASH_HEX], struct err *err)
{
    struct plan_sampling sampling;
    int rc;

    identify(sweep, lease, msg);
    msg->key = key;
    if (lease->stage == JOB_BUILD) {
        msg->limit_ms = BUILD_LIMIT_MS;
        plan_build_key(sweep->plan, lease->unit,
                       sweep->boxes[lease->host].toolkit, key);
        return plan_build(sweep->plan, lease->unit, msg, err);
    }
    if (msg->type == MSG_TOOL)
        return sweep_tool_fill(sweep, lease, msg, key, err);
    msg->artifact = sweep->artifacts[lease->unit];
    msg->reference = sweep->artifacts[plan_units(sweep->plan)];
    msg->fresh = lease->fresh;
    msg->limit_ms =
        (int64_t)(sweep->spec->measure.timeout_s * 1e3) +
        (strcmp(sweep->options->device, "cpu") == 0 ? EMULATED_SLACK_MS
                                                    : MEASURE_SLACK_MS);
    plan_task_key(sweep->plan, lease->unit, lease->shape, key);
    sampling = sampling_of(sweep, lease);
    rc = plan_measure(sweep->plan, lease->unit, lease->shape, &sampling, msg,
                      err);
    if (rc == 0 && sweep->spec->replay)
        add_recorded(sweep, lease, msg);
    return rc;
}

void sweep_granted(struct sweep *sweep, const struct sched_lease *lease)
{
    assert((size_t)lease->id == sweep->n_grants + 1);
    sweep->grants =
        mem_grow(sweep->grants, (size_t)lease->id, sizeof(*sweep->grants));
    sweep->grants[sweep->n_grants++] =
        (struct grant){ .unit = lease->unit,
                        .shape = lease->shape,
                        .stage = lease->stage,
                        .host = lease->host,
                        .order = lease->order,
                        .purpose = lease->purpose,
                        .round = lease->round };
}

int sweep_record_lease(struct sweep *sweep, const struct sched_lease *lease)
{
    struct msg msg = { 0 };

    identify(sweep, lease, &msg);
    return sweep_put_lease(sweep, lease, &msg);
}

/* What the sched grants now, recorded as leases.  Returns how many. */
static size_t grant_all(struct sweep *sweep, struct sched_lease **out)
{
    struct sched_lease lease;
    size_t n = 0;

    *out = NULL;
    while (!sweep->ending && sched_next(sweep->sched, &lease)) {
        *out = mem_grow(*out, n + 1, sizeof(**out));
        (*out)[n++] = lease;
        sweep_granted(sweep, &lease);
        sweep_record_lease(sweep, &lease);
    }
    return n;
}

static int hand_out(struct sweep *sweep, const struct sched_lease *lease,
                    struct err *err)
{
    struct msg msg = { 0 };
    char key[HASH_HEX];
    int rc = fill(sweep, lease, &msg, key, err);

    if (rc == 0)
        sweep_send(sweep, (size_t)lease->host, &msg);
    return rc;
}

/* A lease is committed before it is sent: a coordinator that is killed in
 * between must find it again when its result comes. */
void sweep_dispatch(struct sweep *sweep)
{
    struct sched_lease *leases;
    struct err err;
    size_t n;

    if (!sweep->sched || sweep->stopping)
        return;
    sweep_drop_orders(sweep);
    sweep_contest_turn(sweep);
    sweep_profile_turn(sweep);
    sweep_search_turn(sweep);
    sweep_canary_turn(sweep);
    n = grant_all(sweep, &leases);
    if (n > 0 && sweep_commit(sweep, &err) < 0)
        sweep_fail(sweep, 7, "error", &err);
    for (size_t i = 0; i < n && !sweep->ending; i++)
        if (hand_out(sweep, &leases[i], &err) < 0)
            sweep_fail(sweep, 2, "error", &err);
    free(leases);
}
