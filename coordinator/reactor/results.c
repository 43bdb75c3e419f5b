#include "coordinator/reactor/results.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/notes/common_fault.h"
#include "coordinator/notes/notices.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/reactor/result_check.h"
#include "coordinator/reactor/result_lease.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/stats/stats.h"
#include "coordinator/text/exit_code.h"

#define EXPIRED_MAX 3 /* leases of a host in a row, then it gets none */

/* result_check() has checked that it is an outcome. */
static enum outcome outcome_of(const struct msg *msg)
{
    enum outcome outcome = OUTCOME_CRASH;
    bool is_word = outcome_read(msg_result(msg)->outcome, &outcome);

    assert(is_word);
    (void)is_word;
    return outcome;
}

static void settle(struct sweep *sweep, int unit, int shape,
                   enum outcome outcome, const char *reason,
                   const struct msg *msg)
{
    struct summary times = { .median = NAN };
    int correct = outcome == OUTCOME_CORRECT;

    if (msg && msg->type == MSG_MEASURED && msg->measured.samples.n > 0)
        stats_summary(msg->measured.samples.items, msg->measured.samples.n,
                      &times);
    records_put_outcome(sweep, unit, shape, outcome, reason,
                        msg ? msg_result(msg)->nonce : NULL, times.median);
    sweep->work.count.settled++;
    sweep->work.count.correct += correct;
    tried_count(&sweep->work.count.tried, sweep->work.plan, unit, shape,
                (struct tally_unit){ 1, correct }, times.median);
    pass_settled(sweep, unit, shape, outcome, times.median);
    log_line(LOG_I, "SETTLED", "config=%.12s shape=%s outcome=%s",
             plan_unit(sweep->work.plan, unit)->key,
             plan_shape_name(sweep->work.plan, shape), outcome_name(outcome));
}

/* A job that failed for good; if it is a build, its measurements fail too. */
static void settle_failed(struct sweep *sweep, const struct sched_lease *job,
                          enum outcome outcome, const char *reason,
                          const struct msg *msg)
{
    const struct sweep_options *options = sweep->reactor.options;
    bool reference = job->unit == plan_units(sweep->work.plan);

    if (job->stage == JOB_BUILD && options->unbuilt.tell) {
        options->unbuilt.tell(options->unbuilt.arg, reference, reason);
    } else if (job->stage == JOB_MEASURE) {
        settle(sweep, job->unit, job->shape, outcome, reason, msg);
    } else if (reference) {
        struct err err;

        err_set(&err, ERR_INPUT, "the reference could not be built: %s",
                reason);
        reactor_fail(sweep, EXIT_INPUT, &err);
    } else {
        for (int shape = 0; shape < plan_shapes(sweep->work.plan); shape++)
            if (plan_gate(sweep->work.plan, job->unit, shape) < 0)
                settle(sweep, job->unit, shape, outcome, reason, msg);
    }
}

/* Tell the host, and record it. */
static void cancel_lease(struct sweep *sweep, const struct sched_lease *lease)
{
    leases_cancel(sweep, lease->id);
    leases_end(sweep, lease, LEASES_CANCELLED, LEDGER_LOST);
}

/* Nobody waits for the other lease of a job that is settled. */
static void lose_job(struct sweep *sweep, const struct sched_lease *lease,
                     enum outcome outcome, const char *reason,
                     const struct msg *msg)
{
    struct sched *sched = sweep->work.sched;
    const struct sched_lease *found = sched_lease_get(sched, lease->repeat);
    struct sched_lease other = found ? *found : (struct sched_lease){ 0 };

    if (!sched_lease_apply(sched, lease->id,
                           msg ? JOB_EV_CRASHED : JOB_EV_LOST) ||
        !job_is_settled(
            sched_job(sched, lease->stage, lease->unit, lease->shape)))
        return;
    if (found)
        cancel_lease(sweep, &other);
    settle_failed(sweep, lease, outcome, reason, msg);
}

/* 'msg' is the host's word that the process died, or NULL without one. */
static void lose(struct sweep *sweep, struct sched_lease lease,
                 enum outcome outcome, const char *reason,
                 const struct msg *msg)
{
    leases_end(sweep, &lease, LEASES_LOST, LEDGER_LOST);
    log_line(LOG_W, "LEASE-LOST", "job=%lld host=%s why=%s",
             (long long)lease.id, sweep->fleet.hosts[lease.host].host->name,
             reason);
    if (lease.order)
        sched_order_apply(sweep->work.sched, lease.order, JOB_EV_LOST);
    if (lease.order) {
        struct pass *pass = pass_at(sweep, lease.pass);

        if (pass->ops->lost)
            pass->ops->lost(sweep, pass, &lease,
                            msg ? msg_result(msg)->detail : NULL, reason);
        return;
    }
    lose_job(sweep, &lease, outcome, reason, msg);
}

void results_lose(struct sweep *sweep, struct sched_lease lease,
                  enum outcome outcome, const char *reason)
{
    lose(sweep, lease, outcome, reason, NULL);
}

void results_refuse(struct sweep *sweep, struct sched_lease lease)
{
    leases_end(sweep, &lease, LEASES_REFUSED, LEDGER_LOST);
    if (lease.order)
        sched_order_apply(sweep->work.sched, lease.order, JOB_EV_REFUSED);
    else
        sched_lease_apply(sweep->work.sched, lease.id, JOB_EV_REFUSED);
}

void results_take_back(struct sweep *sweep, size_t host)
{
    const struct sched_lease *lease;

    while (sweep->work.sched &&
           (lease = sched_lease_on(sweep->work.sched, (int)host)))
        results_refuse(sweep, *lease);
}

static void host_gone(struct sweep *sweep, size_t host, const char *why)
{
    const struct sched_lease *lease;

    if (!sweep->work.sched)
        return;
    while ((lease = sched_lease_on(sweep->work.sched, (int)host)))
        lose(sweep, *lease, OUTCOME_LOST, why, NULL);
    pass_host_down(sweep, host);
    artifacts_forget_host(sweep, host);
    sched_host_down(sweep->work.sched, (int)host);
}

void results_host_lost(struct sweep *sweep, size_t host, const char *why)
{
    records_put_event(sweep, "W", "HOST-LOST",
                      sweep->fleet.hosts[host].host->name);
    notices_host_lost(sweep, host, why);
    host_gone(sweep, host, why);
}

void results_host_released(struct sweep *sweep, size_t host)
{
    host_gone(sweep, host, "released");
}

/* A worker keeps an unacknowledged result for the database that asked for it,
 * which may be another one.  If this run adopted the work by mistake, it queues
 * it again. */
static void leave_foreign(struct sweep *sweep, size_t host,
                          const struct sched_lease *job)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct sched_lease *held = NULL;

    if (job->unit >= 0 && job->shape >= 0 && job->purpose == SCHED_SCREEN)
        held = sched_lease_held(sweep->work.sched, job->stage, job->unit,
                                job->shape, job->host);
    if (held && sweep->work.issued[held->id - 1].adopted)
        results_refuse(sweep, *held);

    if (!host_state->conduct.has_foreign)
        log_line(LOG_I, "RESULT-FOREIGN", "host=%s: left in its journal",
                 host_state->host->name);
    host_state->conduct.has_foreign = true;
}

static bool is_granted(const struct sweep *sweep,
                       const struct issued_lease *grant,
                       const struct sched_lease *job)
{
    return grant->unit == job->unit && grant->shape == job->shape &&
           grant->stage == job->stage && grant->purpose == job->purpose &&
           grant->round == job->round &&
           (grant->host == job->host ||
            host_state_same_worker(&sweep->fleet.hosts[grant->host],
                                   &sweep->fleet.hosts[job->host]));
}

/* The purpose of a measurement or a tool; false if the word is unknown. */
static bool find_purpose(const struct msg *msg, enum sched_purpose *out)
{
    const struct msg_identity *id = &msg_work(msg)->id;

    for (int p = SCHED_AGAIN; p <= SCHED_PROFILE; p++)
        if (strcmp(id->purpose, sched_purpose_name((enum sched_purpose)p)) ==
                0 &&
            sched_is_tool((enum sched_purpose)p) == (msg->type == MSG_RAN)) {
            *out = p == SCHED_AGAIN && id->round == 0 ? SCHED_SCREEN
                                                      : (enum sched_purpose)p;
            return true;
        }
    return false;
}

/* A result that another database asked for cannot be checked here.  In a pass
 * over some of the points, neither can a replayed result of another point,
 * because its durations are in that point's record. */
static int can_judge(struct sweep *sweep, size_t host, const struct msg *msg,
                     const struct sched_lease *job, struct err *err)
{
    if (job->unit < 0 && sweep->work.spec->replay)
        return 0;
    return resume_was_leased(sweep, host, msg, err);
}

/* Is the result for the current sources, not for older ones? */
static bool is_current(const struct sweep *sweep, const struct sched_lease *job,
                       const struct msg *msg)
{
    char key[HASH_HEX];

    if (job->unit < 0 || job->shape < 0)
        return false;
    if (job->stage == JOB_BUILD)
        plan_build_key(sweep->work.plan, job->unit,
                       sweep->fleet.hosts[job->host].worker.toolkit, key);
    else
        plan_task_key(sweep->work.plan, job->unit, job->shape, key);
    return strcmp(key, msg_work(msg)->key) == 0;
}

/* Did this run give this lease to this host, for this work? */
static int check_grant(const struct sweep *sweep, const struct sched_lease *job,
                       struct err *err)
{
    if (job->id < 1 || (size_t)job->id > sweep->work.n_issued)
        return err_set(err, ERR_PROTO,
                       "a result for a lease that was never given");
    if (!is_granted(sweep, &sweep->work.issued[job->id - 1], job))
        return err_set(
            err, ERR_PROTO,
            "a result for a lease of another host, or of other work");
    return 0;
}

/* A lease of this run has its artifact.  A lease of an earlier run does not,
 * but the build of its artifact was stored before it was given. */
static int check_artifact(struct sweep *sweep, const struct msg *msg,
                          const struct sched_lease *job, struct err *err)
{
    const char *measured = msg->measured.artifact;
    int rc;

    if (msg->type != MSG_MEASURED)
        return 0;
    if (msg->epoch == sweep->reactor.epoch)
        rc = strcmp(sweep->work.issued[job->id - 1].artifact, measured) == 0;
    else
        rc = resume_was_built(
            sweep, msg,
            is_current(sweep, job, msg)
                ? plan_unit(sweep->work.plan, job->unit)->source_key
                : "",
            err);
    if (rc == 0)
        return err_set(err, ERR_PROTO, "it measured another artifact");
    return err_only(rc);
}

/* The times of a replay are those of its record. */
static int check_lease(const struct sweep *sweep, const struct msg *msg,
                       const struct sched_lease *job, struct err *err)
{
    const struct issued_lease *grant = &sweep->work.issued[job->id - 1];
    double out_s =
        (double)(reactor_now(sweep) - grant->sent_ns) / (double)NS_PER_S;
    struct result_lease lease = { .gpu = grant->gpu,
                                  .wall_s = sweep->work.spec->replay ? INFINITY
                                                                     : out_s,
                                  .samples_most = grant->samples_most };

    result_lease_tolerance(sweep->work.spec, &lease);
    return result_lease_check(msg, &lease, err);
}

static void note_repetition(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (!budget_repetition(&host_state->budget, reactor_now(sweep)))
        host_state_floods(host_state);
}

void results_stored(struct sweep *sweep, size_t host, const struct msg *msg,
                    bool is_new)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (msg->epoch == sweep->reactor.epoch)
        return; /* a lease explains it */
    if (!is_new)
        note_repetition(sweep, host);
    else if (!budget_row(&host_state->budget, reactor_now(sweep), msg->bytes))
        host_state_floods(host_state);
}

/* A lease has one result; the same one may come again. */
static int check_nonce(struct sweep *sweep, const struct msg *msg,
                       const struct sched_lease *job, struct err *err)
{
    char *nonce = sweep->work.issued[job->id - 1].nonce;

    if (*nonce && strcmp(nonce, msg_result(msg)->nonce) != 0)
        return err_set(err, ERR_PROTO, "a second result for one lease");
    if (*nonce)
        note_repetition(sweep, (size_t)job->host);
    memcpy(nonce, msg_result(msg)->nonce, HASH_HEX);
    return 0;
}

int results_resolve(struct sweep *sweep, size_t host, const struct msg *msg,
                    struct sched_lease *out, struct err *err)
{
    const struct msg_work *work = msg_work(msg);
    bool build = msg->type == MSG_BUILT,
         ours = msg->epoch == sweep->reactor.epoch;
    int known, rc;
    bool named;

    out->purpose = SCHED_SCREEN;
    named = build || find_purpose(msg, &out->purpose);
    out->round = build ? 0 : (int)work->id.round;
    out->stage = build ? JOB_BUILD : JOB_MEASURE;
    out->unit =
        named ? work_find_unit(&sweep->work, work->id.config, work->id.purpose)
              : -1;
    out->shape = build ? 0 : plan_find_shape(sweep->work.plan, work->id.shape);
    out->host = (int)host;
    out->id = work->lease;
    known = ours ? 1 : can_judge(sweep, host, msg, out, err);
    if (known < 0)
        return known;
    if (!known) {
        note_repetition(sweep, host);
        leave_foreign(sweep, host, out);
        return 1;
    }
    if (result_check(msg, err) < 0)
        return ERR_PROTO;
    if (!named)
        return err_set(err, ERR_PROTO, "%s is not for '%s'",
                       msg_type_name(msg->type), work->id.purpose);
    rc = ours ? check_grant(sweep, out, err) : 0;
    if (rc == 0)
        rc = check_artifact(sweep, msg, out, err);
    if (rc == 0 && ours)
        rc = check_lease(sweep, msg, out, err);
    if (rc == 0 && ours)
        rc = check_nonce(sweep, msg, out, err);
    if (rc < 0 || !ours)
        return rc;
    out->order = sweep->work.issued[work->lease - 1].order;
    out->pass = sweep->work.issued[work->lease - 1].pass;
    return 0;
}

/* Does this result end the lease?  The host may have got the same work again
 * before it offered the result of an earlier lease. */
static bool is_lease_of(const struct sweep *sweep,
                        const struct sched_lease *held,
                        const struct sched_lease *job, const struct msg *msg)
{
    bool ours = msg->epoch == sweep->reactor.epoch;

    return held->host == job->host &&
           ((ours && held->id == job->id) ||
            sweep->work.issued[held->id - 1].adopted);
}

/* End the lease of this result.  If the work was given again by now, to this
 * host or another one, that lease is not needed any more. */
static void close_leases(struct sweep *sweep, const struct sched_lease *job,
                         const struct msg *msg, enum ledger_category category)
{
    const struct sched_lease *lease =
        sched_lease_of(sweep->work.sched, job->stage, job->unit, job->shape);
    const struct sched_lease *both[] = {
        lease, lease && lease->repeat
                   ? sched_lease_get(sweep->work.sched, lease->repeat)
                   : NULL
    };

    for (size_t i = 0; i < 2; i++) {
        if (!both[i])
            continue;
        if (is_lease_of(sweep, both[i], job, msg))
            leases_end(sweep, both[i], LEASES_DONE, category);
        else
            cancel_lease(sweep, both[i]);
    }
}

/* The runner or the compiler died: try again while tries are left. */
void results_crashed(struct sweep *sweep, const struct sched_lease *lease,
                     const struct msg *msg)
{
    lose(sweep, *lease, OUTCOME_CRASH, msg_result(msg)->detail, msg);
}

static void crashed(struct sweep *sweep, const struct sched_lease *job,
                    const struct msg *msg)
{
    const struct sched_lease *held = sched_lease_held(
        sweep->work.sched, job->stage, job->unit, job->shape, job->host);

    if (held)
        results_crashed(sweep, held, msg);
}

int results_built(struct sweep *sweep, size_t host, const struct msg *msg,
                  struct err *err)
{
    const struct msg_result *result = msg_result(msg);
    bool built = outcome_is(result->outcome, OUTCOME_BUILT);
    bool crash = outcome_is(result->outcome, OUTCOME_CRASH);
    struct sched_lease job = { .unit = -1 };
    bool current;
    int rc;

    rc = results_resolve(sweep, host, msg, &job, err);
    if (rc != 0)
        return err_only(rc);
    current = is_current(sweep, &job, msg);
    rc = records_put_build(
        sweep, host, msg,
        current ? plan_unit(sweep->work.plan, job.unit)->source_key : "",
        !current || crash);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    results_stored(sweep, host, msg, rc > 0);
    outbox_acknowledge(sweep, host, result->nonce);
    sweep->fleet.hosts[host].conduct.refusals = 0;
    if (!current || common_fault_take(sweep, host, job.unit, msg))
        return 0;
    if (crash) {
        crashed(sweep, &job, msg);
        return 0;
    }
    close_leases(sweep, &job, msg, built ? LEDGER_BUILDING : LEDGER_FAILED);
    if (built)
        memcpy(sweep->work.artifacts[job.unit], msg->built.artifact, HASH_HEX);
    if (!sched_apply(sweep->work.sched, JOB_BUILD, job.unit, 0,
                     built ? JOB_EV_RESULT : JOB_EV_REJECT, (int)host))
        return 0;
    if (built)
        artifacts_built(sweep, host, job.unit);
    else
        settle_failed(sweep, &job, outcome_of(msg), result->detail, msg);
    return 0;
}

int results_measured(struct sweep *sweep, size_t host, const struct msg *msg,
                     struct err *err)
{
    const struct msg_result *result = msg_result(msg);
    bool correct = outcome_is(result->outcome, OUTCOME_CORRECT);
    bool crash = outcome_is(result->outcome, OUTCOME_CRASH);
    struct sched_lease job = { .unit = -1 };
    bool current;
    int rc;

    rc = results_resolve(sweep, host, msg, &job, err);
    if (rc != 0)
        return err_only(rc);
    current = is_current(sweep, &job, msg);
    rc = records_put_result(
        sweep, host, msg,
        current ? plan_unit(sweep->work.plan, job.unit)->source_key : "",
        current ? plan_measure_key(sweep->work.plan, job.shape) : "",
        !current || crash);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    results_stored(sweep, host, msg, rc > 0);
    outbox_acknowledge(sweep, host, result->nonce);
    sweep->fleet.hosts[host].conduct.refusals = 0;
    if (!current || common_fault_take(sweep, host, job.unit, msg))
        return 0;
    if (job.purpose != SCHED_SCREEN) {
        orders_measured(sweep, &job, msg);
        return 0;
    }
    pass_measured(sweep, &job, &msg->measured);
    if (crash) {
        crashed(sweep, &job, msg);
        return 0;
    }
    close_leases(sweep, &job, msg, correct ? LEDGER_MEASURING : LEDGER_FAILED);
    sweep->work.vanished[job.unit] =
        sweep->work.vanished[plan_units(sweep->work.plan)] = 0;
    if (correct)
        incumbents_saw(sweep->work.incumbents, job.shape,
                       &msg->measured.samples, msg->measured.sampling);
    if (sched_apply(sweep->work.sched, JOB_MEASURE, job.unit, job.shape,
                    correct ? JOB_EV_RESULT : JOB_EV_REJECT, (int)host))
        settle(sweep, job.unit, job.shape, outcome_of(msg), result->detail,
               msg);
    return 0;
}

void results_expired(struct sweep *sweep, struct sched_lease lease)
{
    struct host_state *host_state = &sweep->fleet.hosts[lease.host];
    char why[96];

    snprintf(why, sizeof(why), "no answer %d s after its limit of %ld s",
             LEASES_GRACE_S,
             (long)(sweep->work.issued[lease.id - 1].limit_ns / NS_PER_S));
    records_put_event(sweep, "W", "LEASE-EXPIRED", host_state->host->name);
    leases_cancel(sweep, lease.id);
    results_lose(sweep, lease, OUTCOME_LOST, why);
    if (++host_state->conduct.expired == EXPIRED_MAX)
        host_state_condemn(host_state, ERR_NETWORK,
                           "it left three leases in a row without an answer");
}

int results_lied(struct sweep *sweep, size_t host, const struct msg *msg,
                 struct err *err)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    struct host_conduct *conduct = &host_state->conduct;
    const struct sched_lease *lease = NULL;
    const char *nonce = msg_result(msg)->nonce;
    char *text;

    for (int i = 0; i < conduct->lies; i++)
        if (strcmp(conduct->lied[i], nonce) == 0)
            return 0;
    snprintf(conduct->lied[conduct->lies++], HASH_HEX, "%s", nonce);
    text = mem_printf("%s: %s", host_state->host->name, err->text);
    records_put_event(sweep, "W", "RESULT-REFUSED", text);
    log_line(LOG_W, "RESULT-REFUSED", "host=%s why=%s", host_state->host->name,
             err->text);
    free(text);
    if (conduct->lies == LIES_MAX)
        return err_within(err, ERR_PROTO, "the third result that is refused");
    progress_say(sweep->reactor.progress, "%s: a result was refused: %s",
                 host_state->host->name, err->text);
    if (sweep->work.sched && msg->epoch == sweep->reactor.epoch)
        lease = sched_lease_get(sweep->work.sched, msg_work(msg)->lease);
    if (lease && lease->host == (int)host)
        results_refuse(sweep, *lease);
    return 0;
}
