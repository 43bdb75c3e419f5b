/* Measurements that somebody asks for besides screening, each on one GPU. */
#include "coordinator/sweep_state.h"

#include <string.h>

#include "common/log.h"

static bool is_unbuilt(const struct sweep *sweep, int unit)
{
    return sched_job(sweep->sched, JOB_BUILD, unit, 0)->state == JOB_WAITING;
}

int64_t sweep_order(struct sweep *sweep, const struct sched_order *order)
{
    int64_t id = sched_order(sweep->sched, order);
    int reference = plan_units(sweep->plan);

    if (id && is_unbuilt(sweep, order->unit))
        sweep_take_built(sweep, order->unit);
    if (id && is_unbuilt(sweep, reference))
        sweep_take_built(sweep, reference);
    return id;
}

/* An order is over: done when there is a result, whatever its outcome, else
 * it is not to be had and 'why' says so. */
static void order_ended(struct sweep *sweep, const struct sched_lease *lease,
                        const struct msg *result, const char *why)
{
    const struct plan_unit *unit = plan_unit(sweep->plan, lease->unit);

    if (!result)
        log_line(LOG_W, "ORDER-DROPPED",
                 "purpose=%s config=%.12s round=%d host=%s gpu=%d why=%s",
                 sched_purpose_name(lease->purpose), unit->key, lease->round,
                 sweep->boxes[lease->host].host->name, lease->gpu, why);
}

void sweep_order_measured(struct sweep *sweep, const struct sched_lease *job,
                          const struct msg *msg)
{
    bool correct = strcmp(msg->outcome, "correct") == 0;
    const struct sched_lease *held;
    struct sched_lease lease = *job;

    if (!job->order)
        return; /* of an earlier run: a fact, and nobody waits for it */
    held = sched_order_lease(sweep->sched, job->order);
    if (held)
        lease = *held;
    if (strcmp(msg->outcome, "crash") == 0) {
        if (held)
            sweep_crashed(sweep, &lease, msg);
        return;
    }
    if (held)
        sweep_end_lease(sweep, &lease, "done",
                        correct ? LEDGER_MEASURING : LEDGER_FAILED);
    if (sched_order_apply(sweep->sched, job->order,
                          correct ? JOB_EV_RESULT : JOB_EV_REJECT))
        order_ended(sweep, &lease, msg, "");
}

void sweep_drop_orders(struct sweep *sweep)
{
    struct sched_lease lease;
    const char *why;

    while (sched_order_dropped(sweep->sched, &lease, &why))
        order_ended(sweep, &lease, NULL, why);
}
