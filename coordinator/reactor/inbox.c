#include "coordinator/reactor/inbox.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/reactor/results.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/reactor.h"

/* A host that refuses everything is asked less and less often, for some 40 s in
 * all, and then not used any more. */
#define REFUSALS_MAX 20
#define REFUSALS_FREE 3 /* a GPU that is gone, a worker that is ending */
#define REST_FIRST_NS (50 * NS_PER_MS)
#define REST_DOUBLINGS 6
#define EARLY_MAX 1024 /* results; more are offered again */
#define EARLY_BYTES_MAX (32 << 20)

static int on_started(struct sweep *sweep, size_t host, const struct msg *msg)
{
    const struct sched_lease *lease =
        sweep->work.sched
            ? sched_lease_get(sweep->work.sched, msg->started.lease)
            : NULL;

    if (!lease || lease->host != (int)host ||
        msg->epoch != sweep->reactor.epoch)
        return 0;
    leases_started(sweep, lease);
    ledger_start(sweep->fleet.ledger, (int)host, msg->started.lease,
                 lease->stage == JOB_MEASURE, reactor_now(sweep));
    return 0;
}

/* Not the fault of its host: the artifact or the reference was lost. */
static bool is_for_want_of_artifact(const struct sweep *sweep,
                                    const struct sched_lease *lease)
{
    return lease->stage == JOB_MEASURE &&
           (sched_home(sweep->work.sched, lease->unit) < 0 ||
            sched_home(sweep->work.sched, plan_units(sweep->work.plan)) < 0);
}

static void rest_host(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    int64_t doublings = int64_min(
        host_state->conduct.refusals - REFUSALS_FREE - 1, REST_DOUBLINGS);

    host_state->conduct.rests_ns =
        reactor_now(sweep) + (REST_FIRST_NS << doublings);
    sched_host_pause(sweep->work.sched, (int)host, true);
}

void inbox_wake_hosts(struct sweep *sweep, int64_t now)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        struct host_state *host_state = &sweep->fleet.hosts[i];

        if (!host_state->conduct.rests_ns || now < host_state->conduct.rests_ns)
            continue;
        host_state->conduct.rests_ns = 0;
        if (host_state->state == HOST_STATE_READY && !host_state->suspect)
            sched_host_pause(sweep->work.sched, (int)i, false);
    }
}

static int on_refuse(struct sweep *sweep, size_t host, const struct msg *msg)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct sched_lease *found =
        sweep->work.sched
            ? sched_lease_get(sweep->work.sched, msg->refuse.lease)
            : NULL;
    struct sched_lease lease;

    if (!found || found->host != (int)host ||
        msg->epoch != sweep->reactor.epoch)
        return 0;
    lease = *found;
    log_line(LOG_W, "LEASE-REFUSED", "job=%lld host=%s why=%s",
             (long long)lease.id, sweep->fleet.hosts[host].host->name,
             msg->refuse.text);
    results_refuse(sweep, lease);
    if (is_for_want_of_artifact(sweep, &lease))
        return 0;
    if (++host_state->conduct.refusals == 1)
        progress_say(sweep->reactor.progress, "%s: it refused a lease: %s",
                     host_state->host->name, msg->refuse.text);
    if (host_state->conduct.refusals >= REFUSALS_MAX)
        host_state_condemn(host_state, ERR_PROTO, msg->refuse.text);
    else if (host_state->conduct.refusals > REFUSALS_FREE)
        rest_host(sweep, host);
    return 0;
}

/* Its work is lost, unless the sweep is ending.  Then work that it had not
 * begun is left for the next run, and the host is not connected again. */
static int on_bye(struct sweep *sweep, size_t host, const struct msg *msg)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    snprintf(host_state->conn.bye, sizeof(host_state->conn.bye), "%s",
             msg->bye.text);
    if (!host_state_is_connected(host_state))
        return 0;
    host_state->state = HOST_STATE_AWAY;
    if (!sweep->reactor.stopping) {
        results_host_lost(sweep, host, msg->bye.text);
        return 0;
    }
    sweep->reactor.io.link.dismiss(sweep->reactor.io.link.self, host);
    results_take_back(sweep, host);
    return 0;
}

/* A host that was silent speaks again, on the same connection. */
static void welcome_back(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (host_state->state == HOST_STATE_READY && sweep->work.sched) {
        if (host_state->is_lost) {
            sched_host_up(sweep->work.sched, (int)host,
                          host_state->host->role == HOST_GPU
                              ? 0
                              : host_state->worker.slots,
                          host_state->n_gpus, leases_credit(sweep, host));
            pass_host_up(sweep, host);
        } else
            sched_host_pause(sweep->work.sched, (int)host, false);
    }
    host_state->suspect = false;
    host_state->is_lost = false;
}

/* A replayed result has its recorded durations, however fast they passed here.
 */
static int take_result(struct sweep *sweep, size_t host, const struct msg *msg,
                       struct err *err)
{
    struct msg own = *msg; /* borrows what 'msg' points to */
    const struct msg_identity *id = &msg_work(msg)->id;
    int unit = work_find_unit(&sweep->work, id->config, id->purpose);

    if (sweep->work.spec->replay && unit >= 0 &&
        unit < plan_units(sweep->work.plan)) {
        struct value *values =
            mem_new(sweep->work.spec->space.n_axes, sizeof(*values));

        plan_values(sweep->work.plan, unit, values);
        replay_restate(sweep->work.spec->replay, values, &own);
        free(values);
    }
    return msg->type == MSG_BUILT ? results_built(sweep, host, &own, err)
           : msg->type == MSG_MEASURED
               ? results_measured(sweep, host, &own, err)
               : orders_ran(sweep, host, &own, err);
}

/* A worker offers its results before it says READY.  If the plan waits for the
 * facts of its GPU, these results are kept, so that nothing is measured again.
 */
bool inbox_keep(struct sweep *sweep, size_t host, struct msg *msg)
{
    if (sweep->work.plan || !msg_is_result(msg->type) ||
        sweep->mail.n_held == EARLY_MAX ||
        sweep->mail.held_bytes + msg->bytes > EARLY_BYTES_MAX)
        return false;
    sweep->mail.held_bytes += msg->bytes;
    sweep->fleet.hosts[host].conn.heard_ns = reactor_now(sweep);
    sweep->mail.held = mem_grow(sweep->mail.held, sweep->mail.n_held + 1,
                                sizeof(*sweep->mail.held));
    sweep->mail.held[sweep->mail.n_held++] = (struct held_result){ host, *msg };
    *msg = (struct msg){ 0 };
    return true;
}

bool inbox_next_kept(struct sweep *sweep, size_t *host, struct msg *msg)
{
    struct held_result *early;

    if (!sweep->work.plan || sweep->mail.n_taken == sweep->mail.n_held)
        return false;
    early = &sweep->mail.held[sweep->mail.n_taken];
    *host = early->host;
    *msg = early->msg;
    sweep->mail.n_taken++;
    return true;
}

void inbox_forget_kept(struct sweep *sweep)
{
    for (size_t i = sweep->mail.n_taken; i < sweep->mail.n_held; i++)
        msg_fini(&sweep->mail.held[i].msg);
    free(sweep->mail.held);
}

static void note_message(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (!budget_message(&host_state->budget, reactor_now(sweep)))
        host_state_floods(host_state);
}

/* Chunks are large: some thousands of them would be a gigabyte. */
static void note_unwanted_chunk(struct sweep *sweep, size_t host,
                                const struct msg *msg)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    note_message(sweep, host);
    if (!budget_row(&host_state->budget, reactor_now(sweep), msg->bytes))
        host_state_floods(host_state);
}

/* A worker's link can end before what it has sent is read; then only the HELLO
 * of the next one counts. */
static bool is_left_over(const struct host_state *host_state,
                         const struct msg *msg)
{
    return host_state->state == HOST_STATE_AWAY && host_state->worker.pid > 0 &&
           (msg->type == MSG_GPU || msg->type == MSG_READY);
}

/* The host speaks.  False if this message is not to be taken: it is of an
 * earlier epoch or worker, or comes again later. */
static bool is_due(struct sweep *sweep, size_t host, const struct msg *msg)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    bool result = msg_is_result(msg->type);

    if (host_state->state == HOST_STATE_FAILED && msg->type == MSG_BYE)
        host_events_bye(sweep, host);
    if (host_state->state == HOST_STATE_FAILED || host_state->conduct.condemned)
        return false; /* sent before the worker knew */
    host_state->conn.heard_ns = reactor_now(sweep);
    if (msg->type != MSG_HELLO)
        host_state->conn.deaf_ns = 0;
    if (host_state->suspect)
        welcome_back(sweep, host);
    if (!result && msg->type != MSG_ARTIFACT)
        note_message(sweep, host);
    if (host_state->conduct.condemned || is_left_over(host_state, msg))
        return false;
    if (!result)
        return msg->epoch == sweep->reactor.epoch;
    /* The key of a build needs the toolkit, which READY says. */
    return sweep->work.plan &&
           (msg->type != MSG_BUILT || host_state->state == HOST_STATE_READY);
}

int inbox_take(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err)
{
    int rc;

    if (!is_due(sweep, host, msg))
        return 0;
    switch (msg->type) {
    case MSG_HELLO:
        return host_events_hello(sweep, host, msg, err);
    case MSG_GPU:
        return host_events_gpu(sweep, host, msg, err);
    case MSG_READY:
        return host_events_ready(sweep, host, msg, err);
    case MSG_TROUBLE:
        host_events_trouble(sweep, host, msg);
        return 0;
    case MSG_STARTED:
        return on_started(sweep, host, msg);
    case MSG_BUILT:
    case MSG_MEASURED:
    case MSG_RAN:
        rc = take_result(sweep, host, msg, err);
        return rc == ERR_PROTO ? results_lied(sweep, host, msg, err) : rc;
    case MSG_REFUSE:
        return on_refuse(sweep, host, msg);
    case MSG_WANT:
        if (sweep->work.plan)
            artifacts_want(sweep, host, msg);
        return 0;
    case MSG_ARTIFACT:
        if (!artifacts_chunk(sweep, host, msg))
            note_unwanted_chunk(sweep, host, msg);
        return 0;
    case MSG_MISSING:
        if (sweep->work.plan)
            artifacts_missing(sweep, host, msg->missing.hash);
        return 0;
    case MSG_BEAT:
        return 0;
    case MSG_BYE:
        return on_bye(sweep, host, msg);
    default:
        return err_set(err, ERR_PROTO, "%s is not a worker's message",
                       msg_type_name(msg->type));
    }
}
