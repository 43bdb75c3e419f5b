#include "coordinator/sweep_state.h"

#include <math.h>
#include <string.h>

#include "common/log.h"
#include "common/stats.h"
#include "coordinator/result_check.h"
#include "coordinator/spec.h"

int sweep_find_unit(const struct sweep *sweep, const char *config,
                    const char *purpose)
{
    int reference = plan_units(sweep->plan);

    if (strcmp(purpose, "reference") != 0)
        return plan_find(sweep->plan, config);
    return strcmp(plan_unit(sweep->plan, reference)->source_key, config) == 0
               ? reference
               : -1;
}

static void settle(struct sweep *sweep, int unit, int shape, const char *word,
                   const char *reason, const struct msg *msg)
{
    struct summary times = { .median = NAN };

    if (msg && msg->samples.n > 0)
        stats_summary(msg->samples.items, msg->samples.n, &times);
    sweep_put_outcome(sweep, unit, shape, word, reason, msg ? msg->nonce : NULL,
                      times.median);
    sweep->n_settled++;
    sweep->n_correct += strcmp(word, "correct") == 0;
    sweep_search_settled(sweep, unit, shape, word, times.median);
    log_line(LOG_I, "SETTLED", "config=%.12s shape=%s outcome=%s",
             plan_unit(sweep->plan, unit)->key,
             plan_shape_name(sweep->plan, shape), word);
}

/* A job that failed for good: a build takes its measurements along. */
static void settle_failed(struct sweep *sweep, const struct sched_lease *job,
                          const char *word, const char *reason,
                          const struct msg *msg)
{
    if (job->stage == JOB_MEASURE) {
        settle(sweep, job->unit, job->shape, word, reason, msg);
    } else if (job->unit == plan_units(sweep->plan)) {
        struct err err;

        err_set(&err, ERR_INPUT, "the reference could not be built: %s",
                reason);
        sweep_fail(sweep, 2, "error", &err);
    } else {
        for (int shape = 0; shape < plan_shapes(sweep->plan); shape++)
            if (plan_gate(sweep->plan, job->unit, shape) < 0)
                settle(sweep, job->unit, shape, word, reason, msg);
    }
}

static void lose(struct sweep *sweep, struct sched_lease lease,
                 const char *word, const char *reason, const struct msg *msg)
{
    sweep_end_lease(sweep, &lease, "lost", LEDGER_LOST);
    log_line(LOG_W, "LEASE-LOST", "job=%lld host=%s why=%s",
             (long long)lease.id, sweep->boxes[lease.host].host->name, reason);
    if (lease.order)
        sched_order_apply(sweep->sched, lease.order, JOB_EV_LOST);
    if (lease.order && lease.purpose == SCHED_CONFIRM)
        sweep_contest_lost(sweep, &lease, msg ? msg->detail : NULL);
    if (lease.order && lease.purpose == SCHED_EXTERNAL)
        sweep_external_lost(sweep, &lease, msg ? msg->detail : NULL, reason);
    if (lease.order)
        return;
    if (sched_apply(sweep->sched, lease.stage, lease.unit, lease.shape,
                    JOB_EV_LOST, -1) &&
        job_is_settled(
            sched_job(sweep->sched, lease.stage, lease.unit, lease.shape)))
        settle_failed(sweep, &lease, word, reason, msg);
}

void sweep_lose(struct sweep *sweep, struct sched_lease lease, const char *word,
                const char *reason)
{
    lose(sweep, lease, word, reason, NULL);
}

void sweep_refuse(struct sweep *sweep, struct sched_lease lease)
{
    sweep_end_lease(sweep, &lease, "refused", LEDGER_LOST);
    if (lease.order)
        sched_order_apply(sweep->sched, lease.order, JOB_EV_REFUSED);
    else
        sched_apply(sweep->sched, lease.stage, lease.unit, lease.shape,
                    JOB_EV_REFUSED, -1);
}

void sweep_host_lost(struct sweep *sweep, size_t host, const char *why)
{
    const struct sched_lease *lease;

    sweep_put_event(sweep, "W", "HOST-LOST", sweep->boxes[host].host->name);
    if (!sweep->sched)
        return;
    while ((lease = sched_lease_on(sweep->sched, (int)host)))
        lose(sweep, *lease, "lost", why, NULL);
    sweep_canary_lost(sweep, host);
    sched_host_down(sweep->sched, (int)host);
}

/* A worker keeps what is not acknowledged for the database that asked for it,
 * which need not be this one.  Work adopted in error is done here after all. */
static void leave_foreign(struct sweep *sweep, size_t host,
                          const struct sched_lease *job)
{
    struct box *box = &sweep->boxes[host];
    const struct sched_lease *held = NULL;

    if (job->unit >= 0 && job->shape >= 0 && job->purpose == SCHED_SCREEN)
        held = sched_lease_of(sweep->sched, job->stage, job->unit, job->shape);
    if (held && held->host == job->host && sweep->grants[held->id - 1].adopted)
        sweep_refuse(sweep, *held);

    if (!box->has_foreign)
        log_line(LOG_I, "RESULT-FOREIGN", "host=%s: left in its journal",
                 box->host->name);
    box->has_foreign = true;
}

static bool is_granted(const struct sweep *sweep, const struct grant *grant,
                       const struct sched_lease *job)
{
    return grant->unit == job->unit && grant->shape == job->shape &&
           grant->stage == job->stage && grant->purpose == job->purpose &&
           grant->round == job->round &&
           (grant->host == job->host ||
            sweep_same_worker(&sweep->boxes[grant->host],
                              &sweep->boxes[job->host]));
}

/* What a measurement or a tool was for; -1 for no such word. */
static int purpose_of(const struct msg *msg)
{
    const struct msg_identity *id = &msg->id;

    for (int p = SCHED_AGAIN; p <= SCHED_PROFILE; p++)
        if (strcmp(id->purpose, sched_purpose_name((enum sched_purpose)p)) ==
                0 &&
            sched_is_tool((enum sched_purpose)p) == (msg->type == MSG_RAN))
            return p == SCHED_AGAIN && id->round == 0 ? SCHED_SCREEN : p;
    return -1;
}

/* What another database asked for is not to be judged by this one; nor is, in
 * a pass over some of the points, a replayed result of another point, whose
 * record says how long it took. */
static int can_judge(struct sweep *sweep, size_t host, const struct msg *msg,
                     const struct sched_lease *job, struct err *err)
{
    if (job->unit < 0 && sweep->spec->replay)
        return 0;
    return sweep_was_leased(sweep, host, msg, err);
}

int sweep_resolve(struct sweep *sweep, size_t host, const struct msg *msg,
                  struct sched_lease *out, struct err *err)
{
    bool build = msg->type == MSG_BUILT, ours = msg->epoch == sweep->epoch;
    int purpose = build ? SCHED_SCREEN : purpose_of(msg), known;

    out->purpose = purpose < 0 ? SCHED_SCREEN : (enum sched_purpose)purpose;
    out->round = build ? 0 : (int)msg->id.round;
    out->stage = build ? JOB_BUILD : JOB_MEASURE;
    out->unit = purpose < 0
                    ? -1
                    : sweep_find_unit(sweep, msg->id.config, msg->id.purpose);
    out->shape = build ? 0 : plan_find_shape(sweep->plan, msg->id.shape);
    out->host = (int)host;
    out->id = msg->lease;
    known = ours ? 1 : can_judge(sweep, host, msg, out, err);
    if (known < 0)
        return known;
    if (!known) {
        leave_foreign(sweep, host, out);
        return 1;
    }
    if (result_check(msg, err) < 0)
        return ERR_PROTO;
    if (purpose < 0)
        return err_set(err, ERR_PROTO, "%s is not for '%s'",
                       msg_type_name(msg->type), msg->id.purpose);
    if (!ours)
        return 0;
    if (msg->lease < 1 || (size_t)msg->lease > sweep->n_grants)
        return err_set(err, ERR_PROTO, "a result nobody asked for");
    if (!is_granted(sweep, &sweep->grants[msg->lease - 1], out))
        return err_set(err, ERR_PROTO, "a result nobody asked it for");
    out->order = sweep->grants[msg->lease - 1].order;
    return 0;
}

/* Whether the result is for what the sweep is now, not for older sources. */
static bool is_current(const struct sweep *sweep, const struct sched_lease *job,
                       const struct msg *msg)
{
    char key[HASH_HEX];

    if (job->unit < 0 || job->shape < 0)
        return false;
    if (job->stage == JOB_BUILD)
        plan_build_key(sweep->plan, job->unit, sweep->boxes[job->host].toolkit,
                       key);
    else
        plan_task_key(sweep->plan, job->unit, job->shape, key);
    return strcmp(key, msg->key) == 0;
}

/* End the lease under which this result was made; one that another host holds
 * by now is superfluous. */
static void close_lease(struct sweep *sweep, const struct sched_lease *job,
                        enum ledger_category category)
{
    const struct sched_lease *held =
        sched_lease_of(sweep->sched, job->stage, job->unit, job->shape);
    struct msg cancel = { .type = MSG_CANCEL };

    if (!held)
        return;
    if (held->host == job->host) {
        sweep_end_lease(sweep, held, "done", category);
        return;
    }
    cancel.lease = held->id;
    sweep_send(sweep, (size_t)held->host, &cancel);
    sweep_end_lease(sweep, held, "cancelled", LEDGER_LOST);
}

/* The runner or the compiler died: try again while there are tries. */
void sweep_crashed(struct sweep *sweep, const struct sched_lease *lease,
                   const struct msg *msg)
{
    lose(sweep, *lease, "crash", msg->detail, msg);
}

static void crashed(struct sweep *sweep, const struct sched_lease *job,
                    const struct msg *msg)
{
    const struct sched_lease *held =
        sched_lease_of(sweep->sched, job->stage, job->unit, job->shape);

    if (held && held->host == job->host)
        sweep_crashed(sweep, held, msg);
}

int sweep_built(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err)
{
    bool built = strcmp(msg->outcome, "built") == 0;
    bool crash = strcmp(msg->outcome, "crash") == 0;
    struct sched_lease job = { .unit = -1 };
    bool current;
    int rc;

    rc = sweep_resolve(sweep, host, msg, &job, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    current = is_current(sweep, &job, msg);
    rc = sweep_put_build(sweep, host, msg,
                         current ? plan_unit(sweep->plan, job.unit)->source_key
                                 : "",
                         !current || crash);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    sweep_acknowledge(sweep, host, msg->nonce);
    sweep->boxes[host].refusals = 0;
    if (!current)
        return 0;
    if (crash) {
        crashed(sweep, &job, msg);
        return 0;
    }
    close_lease(sweep, &job, built ? LEDGER_BUILDING : LEDGER_FAILED);
    if (built)
        memcpy(sweep->artifacts[job.unit], msg->artifact, HASH_HEX);
    if (sched_apply(sweep->sched, JOB_BUILD, job.unit, 0,
                    built ? JOB_EV_RESULT : JOB_EV_REJECT, (int)host) &&
        !built)
        settle_failed(sweep, &job, msg->outcome, msg->detail, msg);
    return 0;
}

int sweep_measured(struct sweep *sweep, size_t host, const struct msg *msg,
                   struct err *err)
{
    bool correct = strcmp(msg->outcome, "correct") == 0;
    bool crash = strcmp(msg->outcome, "crash") == 0;
    struct sched_lease job = { .unit = -1 };
    bool current;
    int rc;

    rc = sweep_resolve(sweep, host, msg, &job, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    current = is_current(sweep, &job, msg);
    rc = sweep_put_result(
        sweep, host, msg,
        current ? plan_unit(sweep->plan, job.unit)->source_key : "",
        current ? plan_measure_key(sweep->plan, job.shape) : "",
        !current || crash);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    sweep_acknowledge(sweep, host, msg->nonce);
    sweep->boxes[host].refusals = 0;
    if (!current)
        return 0;
    if (job.purpose != SCHED_SCREEN) {
        sweep_order_measured(sweep, &job, msg);
        return 0;
    }
    sweep_canary_measured(sweep, &job, msg);
    if (crash) {
        crashed(sweep, &job, msg);
        return 0;
    }
    close_lease(sweep, &job, correct ? LEDGER_MEASURING : LEDGER_FAILED);
    if (correct)
        incumbents_saw(sweep->incumbents, job.shape, &msg->samples,
                       msg->sampling);
    if (sched_apply(sweep->sched, JOB_MEASURE, job.unit, job.shape,
                    correct ? JOB_EV_RESULT : JOB_EV_REJECT, (int)host))
        settle(sweep, job.unit, job.shape, msg->outcome, msg->detail, msg);
    return 0;
}
