/* Measurements that somebody asks for besides screening, each on one GPU. */
#include "coordinator/sweep_state.h"

#include <math.h>
#include <string.h>

#include "common/log.h"
#include "common/stats.h"
#include "coordinator/sql.h"

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
    switch (lease->purpose) {
    case SCHED_CANARY:
        sweep_canary_ended(sweep, lease, result);
        return;
    case SCHED_AGAIN:
        if (result)
            sweep_canary_measured(sweep, lease, result);
        if (!sweep_race_ended(sweep, lease, result))
            sweep_again_ended(sweep, lease, result);
        return;
    case SCHED_EXTERNAL:
    case SCHED_PROFILE:
        sweep_tool_dropped(sweep, lease);
        return;
    case SCHED_CONFIRM:
        sweep_contest_ended(sweep, lease, result);
        return;
    case SCHED_SCREEN:
        return;
    }
}

static bool was_correct(struct sweep *sweep, const struct sched_lease *job)
{
    static const char text[] =
        "SELECT 1 FROM outcome WHERE config=? AND shape=? AND source_key=?"
        " AND measure_key=? AND outcome='correct'";
    const struct plan_unit *unit = plan_unit(sweep->plan, job->unit);
    struct sqlite3_stmt *stmt = NULL;
    struct err err;
    int rc = sql_prepare(store_db(sweep->store), text, &stmt, &err);

    if (rc == 0)
        rc = sql_start(stmt, &err, "ssss", unit->key,
                       plan_shape_name(sweep->plan, job->shape),
                       unit->source_key,
                       plan_measure_key(sweep->plan, job->shape));
    if (rc == 0)
        rc = sql_step(stmt, &err);
    sql_free(stmt);
    if (rc < 0)
        sweep_fail(sweep, 7, "error", &err);
    return rc == 1;
}

/* Of a configuration's repetitions the newest counts, whoever asked for it;
 * the search learns what it is now, if it was no rung of a race. */
static void settle_again(struct sweep *sweep, const struct sched_lease *job,
                         const struct msg *msg)
{
    struct summary times = { .median = NAN };
    bool was = was_correct(sweep, job);

    if (msg->samples.n > 0)
        stats_summary(msg->samples.items, msg->samples.n, &times);
    if (sweep_put_outcome(sweep, job->unit, job->shape, msg->outcome,
                          msg->detail, msg->nonce, times.median) != 1)
        return;
    sweep->n_correct += (strcmp(msg->outcome, "correct") == 0) - was;
    if (job->round < SWEEP_RUNG_ROUNDS)
        sweep_search_settled(sweep, job->unit, job->shape, msg->outcome,
                             times.median);
}

void sweep_order_measured(struct sweep *sweep, const struct sched_lease *job,
                          const struct msg *msg)
{
    bool correct = strcmp(msg->outcome, "correct") == 0;
    const struct sched_lease *held =
        job->order ? sched_order_lease(sweep->sched, job->order) : NULL;
    struct sched_lease lease = held ? *held : *job;

    if (strcmp(msg->outcome, "crash") == 0) {
        if (held)
            sweep_crashed(sweep, &lease, msg);
        return;
    }
    if (held)
        sweep_end_lease(sweep, &lease, "done",
                        correct ? LEDGER_MEASURING : LEDGER_FAILED);
    if (job->purpose == SCHED_AGAIN)
        settle_again(sweep, job, msg);
    if (job->order &&
        sched_order_apply(sweep->sched, job->order,
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
