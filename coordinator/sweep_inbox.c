#include "coordinator/sweep_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/replay.h"
#include "coordinator/spec.h"

/* A host that takes nothing would be asked for ever. */
#define REFUSALS_MAX 50
#define EARLY_MAX 1024 /* results; more are offered again */

static int on_started(struct sweep *sweep, size_t host, const struct msg *msg)
{
    const struct sched_lease *lease =
        sweep->sched ? sched_lease_get(sweep->sched, msg->lease) : NULL;

    if (lease && lease->host == (int)host && msg->epoch == sweep->epoch)
        ledger_start(sweep->ledger, (int)host, msg->lease,
                     lease->stage == JOB_MEASURE, clock_boot_ns());
    return 0;
}

static int on_refuse(struct sweep *sweep, size_t host, const struct msg *msg)
{
    const struct sched_lease *found =
        sweep->sched ? sched_lease_get(sweep->sched, msg->lease) : NULL;
    struct sched_lease lease;

    if (!found || found->host != (int)host || msg->epoch != sweep->epoch)
        return 0;
    lease = *found;
    log_line(LOG_W, "LEASE-REFUSED", "job=%lld host=%s why=%s",
             (long long)lease.id, sweep->boxes[host].host->name, msg->text);
    sweep_refuse(sweep, lease);
    if (++sweep->boxes[host].refusals >= REFUSALS_MAX)
        sweep_give_up(sweep, host, ERR_PROTO, msg->text);
    return 0;
}

/* Its work is lost, unless the sweep ends: then what it had not begun simply
 * stays to be done, and the host is not connected to again. */
static int on_bye(struct sweep *sweep, size_t host, const struct msg *msg)
{
    struct box *box = &sweep->boxes[host];
    const struct sched_lease *lease;

    snprintf(box->bye, sizeof(box->bye), "%s", msg->text);
    if (!sweep_is_connected(box))
        return 0;
    box->state = BOX_AWAY;
    if (!sweep->stopping) {
        sweep_host_lost(sweep, host, msg->text);
        return 0;
    }
    crew_dismiss(sweep->crew, host);
    while (sweep->sched && (lease = sched_lease_on(sweep->sched, (int)host)))
        sweep_refuse(sweep, *lease);
    return 0;
}

/* A host that was silent speaks again, on the same connection. */
static void welcome_back(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];

    if (box->state == BOX_READY && sweep->sched) {
        if (box->is_lost) {
            sched_host_up(sweep->sched, (int)host,
                          box->host->role == HOST_GPU ? 0 : box->slots,
                          box->n_gpus, box->credit);
            sweep_canary_box(sweep, host);
        } else
            sched_host_pause(sweep->sched, (int)host, false);
    }
    box->suspect = false;
    box->is_lost = false;
}

/* A replayed result takes what it took when it was recorded, however fast
 * that time passed here. */
static int take_result(struct sweep *sweep, size_t host, const struct msg *msg,
                       struct err *err)
{
    struct msg own = *msg; /* borrows what 'msg' points to */
    int unit = sweep_find_unit(sweep, msg->id.config, msg->id.purpose);

    if (sweep->spec->replay && unit >= 0 && unit < plan_units(sweep->plan)) {
        struct value *values = mem_new(sweep->spec->n_axes, sizeof(*values));

        plan_values(sweep->plan, unit, values);
        replay_restate(sweep->spec->replay, values, &own);
        free(values);
    }
    return msg->type == MSG_BUILT ? sweep_built(sweep, host, &own, err)
                                  : sweep_measured(sweep, host, &own, err);
}

/* A worker offers what it has before it says READY, and where the plan waits
 * for the facts of its GPU none of it must be measured again for that. */
bool sweep_keep(struct sweep *sweep, size_t host, struct msg *msg)
{
    if (sweep->plan || !msg_is_result(msg->type) || sweep->n_early == EARLY_MAX)
        return false;
    sweep->boxes[host].heard_ns = clock_boot_ns();
    sweep->early =
        mem_grow(sweep->early, sweep->n_early + 1, sizeof(*sweep->early));
    sweep->early[sweep->n_early++] = (struct early){ host, *msg };
    *msg = (struct msg){ 0 };
    return true;
}

bool sweep_next_kept(struct sweep *sweep, size_t *host, struct msg *msg)
{
    struct early *early = &sweep->early[sweep->n_taken];

    if (!sweep->plan || sweep->n_taken == sweep->n_early)
        return false;
    *host = early->host;
    *msg = early->msg;
    sweep->n_taken++;
    return true;
}

void sweep_forget_kept(struct sweep *sweep)
{
    for (size_t i = sweep->n_taken; i < sweep->n_early; i++)
        msg_fini(&sweep->early[i].msg);
    free(sweep->early);
}

int sweep_take(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err)
{
    struct box *box = &sweep->boxes[host];
    bool result = msg_is_result(msg->type);

    if (box->state == BOX_FAILED)
        return 0; /* what it sent before it heard of that */
    box->heard_ns = clock_boot_ns();
    if (box->suspect)
        welcome_back(sweep, host);
    if (msg->epoch != sweep->epoch && !result)
        return 0;
    if (result && !sweep->plan)
        return 0; /* offered again later */
    switch (msg->type) {
    case MSG_HELLO:
        return sweep_hello(sweep, host, msg, err);
    case MSG_GPU:
        return sweep_gpu(sweep, host, msg, err);
    case MSG_READY:
        return sweep_ready(sweep, host, msg, err);
    case MSG_TROUBLE:
        sweep_trouble(sweep, host, msg);
        return 0;
    case MSG_STARTED:
        return on_started(sweep, host, msg);
    case MSG_BUILT:
    case MSG_MEASURED:
        return take_result(sweep, host, msg, err);
    case MSG_RAN:
        return sweep_ran(sweep, host, msg, err);
    case MSG_REFUSE:
        return on_refuse(sweep, host, msg);
    case MSG_WANT:
        if (sweep->plan)
            sweep_want(sweep, host, msg);
        return 0;
    case MSG_ARTIFACT:
        sweep_artifact(sweep, host, msg);
        return 0;
    case MSG_MISSING:
        if (sweep->plan)
            sweep_missing(sweep, host, msg->hash);
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
