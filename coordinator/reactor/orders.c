/* Measurements that passes order in addition to screening, each on one GPU. */
#include "coordinator/reactor/orders.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/results.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/stored/stored_work.h"
#include "coordinator/text/exit_code.h"

static bool is_unbuilt(const struct sweep *sweep, int unit)
{
    return sched_job(sweep->work.sched, JOB_BUILD, unit, 0)->state ==
           JOB_WAITING;
}

int64_t orders_place(struct sweep *sweep, const struct sched_order *order)
{
    int64_t id = sched_order(sweep->work.sched, order);
    int reference = plan_units(sweep->work.plan);

    if (id && is_unbuilt(sweep, order->unit))
        resume_take_built(sweep, order->unit);
    if (id && is_unbuilt(sweep, reference))
        resume_take_built(sweep, reference);
    return id;
}

/* An order is over: it is done if there is a result, whatever its outcome.
 * Otherwise 'why' says why there will be no result. */
static void order_ended(struct sweep *sweep, const struct sched_lease *lease,
                        const struct msg *result, const char *why)
{
    const struct plan_unit *unit = plan_unit(sweep->work.plan, lease->unit);
    struct pass *pass = pass_at(sweep, lease->pass);

    if (!result)
        log_line(LOG_W, "ORDER-DROPPED",
                 "purpose=%s config=%.12s round=%d host=%s gpu=%d why=%s",
                 sched_purpose_name(lease->purpose), unit->key, lease->round,
                 sweep->fleet.hosts[lease->host].host->name, lease->gpu, why);
    if (result && lease->purpose == SCHED_AGAIN)
        pass_measured(sweep, lease, &result->measured);
    if (pass->ops->ended)
        pass->ops->ended(sweep, pass, lease, result);
}

static bool was_correct(struct sweep *sweep, const struct sched_lease *job)
{
    const struct plan_unit *unit = plan_unit(sweep->work.plan, job->unit);
    struct store_outcome key = {
        .config = unit->key,
        .shape = plan_shape_name(sweep->work.plan, job->shape),
        .source_key = unit->source_key,
        .measure_key = plan_measure_key(sweep->work.plan, job->shape),
    };
    struct err err;
    int rc = stored_work_is_correct(sweep->mail.store, &key, &err);

    if (rc < 0)
        reactor_fail(sweep, EXIT_DATABASE, &err);
    return rc == 1;
}

/* The newest repetition of a measurement counts, whichever pass ordered it. The
 * search learns the new result, unless it was a rung of a race. */
static void settle_again(struct sweep *sweep, const struct sched_lease *job,
                         const struct msg *msg)
{
    const struct msg_result *result = &msg->measured.result;
    struct summary times = { .median = NAN };
    struct tally_unit change = { 0 };
    bool was = was_correct(sweep, job);
    enum outcome outcome;

    if (msg->measured.samples.n > 0)
        stats_summary(msg->measured.samples.items, msg->measured.samples.n,
                      &times);
    if (!outcome_read(result->outcome, &outcome) ||
        records_put_outcome(sweep, job->unit, job->shape, outcome,
                            result->detail, result->nonce, times.median) != 1)
        return;
    change.correct = (outcome == OUTCOME_CORRECT) - was;
    sweep->work.count.correct += change.correct;
    tried_count(&sweep->work.count.tried, sweep->work.plan, job->unit,
                job->shape, change, times.median);
    if (job->round < SWEEP_RUNG_ROUNDS)
        pass_settled(sweep, job->unit, job->shape, outcome, times.median);
}

void orders_measured(struct sweep *sweep, const struct sched_lease *job,
                     const struct msg *msg)
{
    bool correct = outcome_is(msg_result(msg)->outcome, OUTCOME_CORRECT);
    const struct sched_lease *held =
        job->order ? sched_order_lease(sweep->work.sched, job->order) : NULL;
    struct sched_lease lease = held ? *held : *job;

    if (outcome_is(msg_result(msg)->outcome, OUTCOME_CRASH)) {
        if (held)
            results_crashed(sweep, &lease, msg);
        return;
    }
    if (held)
        leases_end(sweep, &lease, LEASES_DONE,
                   correct ? LEDGER_MEASURING : LEDGER_FAILED);
    if (job->purpose == SCHED_AGAIN)
        settle_again(sweep, job, msg);
    if (job->order &&
        sched_order_apply(sweep->work.sched, job->order,
                          correct ? JOB_EV_RESULT : JOB_EV_REJECT))
        order_ended(sweep, &lease, msg, "");
}

void orders_drop(struct sweep *sweep)
{
    struct sched_lease lease;
    const char *why;

    while (sched_order_dropped(sweep->work.sched, &lease, &why))
        order_ended(sweep, &lease, NULL, why);
}

/* A command has run, by an order of this run. */
static void settle_run(struct sweep *sweep, const struct sched_lease *job,
                       const struct msg *msg)
{
    bool ran = outcome_is(msg_result(msg)->outcome, OUTCOME_RAN);
    const struct sched_lease *held =
        sched_order_lease(sweep->work.sched, job->order);
    struct sched_lease lease = held ? *held : *job;

    if (held && outcome_is(msg_result(msg)->outcome, OUTCOME_CRASH)) {
        results_crashed(sweep, &lease, msg);
        return;
    }
    if (held)
        leases_end(sweep, &lease, LEASES_DONE,
                   ran ? LEDGER_MEASURING : LEDGER_FAILED);
    if (sched_order_apply(sweep->work.sched, job->order,
                          ran ? JOB_EV_RESULT : JOB_EV_REJECT))
        order_ended(sweep, &lease, msg, "");
}

int orders_ran(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err)
{
    struct sched_lease job = { .unit = -1 };
    struct msg judged = *msg;
    struct err why = { "" };
    const char *name = msg_work(msg)->id.purpose;
    struct pass *pass;
    bool crash = outcome_is(msg_result(msg)->outcome, OUTCOME_CRASH);
    int rc = results_resolve(sweep, host, msg, &job, err);

    if (rc != 0)
        return err_only(rc);
    pass = pass_of(sweep, job.purpose);
    if (pass && pass->ops->commands.judge)
        name = pass->ops->commands.judge(sweep, pass, &judged.ran, &why);
    rc = records_put_tool(sweep, host, &judged, name, crash);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    results_stored(sweep, host, msg, rc > 0);
    outbox_acknowledge(sweep, host, msg_result(msg)->nonce);
    sweep->fleet.hosts[host].conduct.refusals = 0;
    if (job.order)
        settle_run(sweep, &job, &judged);
    else if (pass && pass->ops->ended && !crash)
        pass->ops->ended(sweep, pass, &job, &judged);
    return 0;
}
