#include "coordinator/reactor/resume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/progress_view.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/stored/stored_work.h"
#include "coordinator/text/exit_code.h"

int resume_was_leased(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err)
{
    const struct msg_work *work = msg_work(msg);
    const struct msg_identity *id = &work->id;
    struct store_lease lease = {
        .epoch = msg->epoch,
        .id = work->lease,
        .host = sweep->fleet.hosts[host].host->name,
        .config = id->config,
        .shape = id->shape,
        .stage = id->stage,
        .purpose = id->purpose,
        .round = id->round,
        .gpu = msg->type == MSG_MEASURED ? msg->measured.gpu
               : msg->type == MSG_RAN    ? msg->ran.gpu
                                         : "",
    };

    return stored_work_was_leased(sweep->mail.store, &lease, err);
}

int resume_was_built(struct sweep *sweep, const struct msg *msg,
                     const char *source_key, struct err *err)
{
    struct store_build build = { .config = msg->measured.work.id.config,
                                 .source_key = source_key,
                                 .artifact = msg->measured.artifact };

    return stored_work_was_built(sweep->mail.store, &build, err);
}

/* A gate rejects it for this shape: it is not run. */
static void skip(struct sweep *sweep, int unit, int shape)
{
    const struct spec_gate *gate =
        &sweep->work.spec->space
             .gates[plan_gate(sweep->work.plan, unit, shape)];
    char *reason = mem_printf("gate '%s': %s", gate->name, gate->why);

    records_put_outcome(sweep, unit, shape, OUTCOME_CONSTRAINTS, reason, NULL,
                        (double)NAN);
    free(reason);
    sched_settled(sweep->work.sched, JOB_MEASURE, unit, shape, false);
    sweep->work.count.settled++;
    tried_count(&sweep->work.count.tried, sweep->work.plan, unit, shape,
                (struct tally_unit){ .settled = 1 }, (double)NAN);
}

/* Outcomes for exactly these sources and this way of measuring. */
struct was {
    bool is_settled;
    enum outcome outcome;
    double median_s;
    bool measured;
};

struct past {
    struct sweep *sweep;
    struct was *was; /* [units][shapes] */
};

static struct was *was_of(const struct past *past, int unit, int shape)
{
    return &past->was[unit * plan_shapes(past->sweep->work.plan) + shape];
}

static void find_settled(void *arg, const struct past_runs_settled *settled)
{
    const struct past *past = arg;
    const struct plan *plan = past->sweep->work.plan;
    int unit = plan_find(plan, settled->config);
    int shape = plan_find_shape(plan, settled->shape);
    struct was *was;

    if (unit < 0 || shape < 0 ||
        strcmp(settled->source_key, plan_unit(plan, unit)->source_key) != 0 ||
        strcmp(settled->measure_key, plan_measure_key(plan, shape)) != 0)
        return;
    was = was_of(past, unit, shape);
    was->is_settled = outcome_read(settled->outcome, &was->outcome);
    was->median_s = settled->median_s;
    was->measured = settled->measured;
}

/* Lost work gets another try.  So do points that a gate rejected and no longer
 * rejects.  A command that asks for certain configurations also repeats
 * crashes. */
static bool is_worth_another(const struct sweep *sweep, const struct was *was)
{
    return was->outcome == OUTCOME_LOST ||
           (was->outcome == OUTCOME_CONSTRAINTS && !was->measured) ||
           (was->outcome == OUTCOME_CRASH && sweep->reactor.options->ask);
}

/* Only times that are faster than the others matter, so few are read. */
static int remember(struct sweep *sweep, struct past_runs *history, int unit,
                    int shape, double median_s, struct err *err)
{
    const struct plan_unit *u = plan_unit(sweep->work.plan, unit);
    double noise = sweep->work.spec->measure.noise;
    struct store_outcome key = {
        .config = u->key,
        .shape = plan_shape_name(sweep->work.plan, shape),
        .source_key = u->source_key,
        .measure_key = plan_measure_key(sweep->work.plan, shape),
    };
    struct past_runs_outcome was;
    int rc;

    if (!incumbents_is_new(sweep->work.incumbents, shape, median_s, noise))
        return 0;
    rc = past_runs_outcome(history, &key, &was, err);
    if (rc == 1 && was.agreed)
        incumbents_remember(sweep->work.incumbents, shape, median_s, noise);
    return err_only(rc);
}

/* It stays settled. */
static int take_outcome(struct sweep *sweep, struct past_runs *history,
                        int unit, int shape, const struct was *was,
                        struct err *err)
{
    bool correct = was->outcome == OUTCOME_CORRECT;
    int rc = 0;

    if (plan_gate(sweep->work.plan, unit, shape) >= 0) {
        skip(sweep, unit, shape);
        return 0;
    }
    if (!was->is_settled || is_worth_another(sweep, was))
        return 0;
    sched_settled(sweep->work.sched, JOB_MEASURE, unit, shape, correct);
    sweep->work.count.settled++;
    sweep->work.count.correct += correct;
    tried_count(&sweep->work.count.tried, sweep->work.plan, unit, shape,
                (struct tally_unit){ 1, correct }, was->median_s);
    if (correct)
        rc = remember(sweep, history, unit, shape, was->median_s, err);
    pass_settled(sweep, unit, shape, was->outcome, was->median_s);
    return rc;
}

static int take_outcomes(struct sweep *sweep, struct past_runs *history,
                         struct err *err)
{
    int units = plan_taken(sweep->work.plan),
        shapes = plan_shapes(sweep->work.plan);
    struct past past = { sweep, mem_new((size_t)units * (size_t)shapes + 1,
                                        sizeof(struct was)) };
    int rc = past_runs_settled(history, find_settled, &past, err);

    for (int unit = 0; rc == 0 && unit < units; unit++)
        for (int shape = 0; rc == 0 && shape < shapes; shape++)
            rc = take_outcome(sweep, history, unit, shape,
                              was_of(&past, unit, shape), err);
    free(past.was);
    return rc;
}

static void take_loss(void *arg, const struct past_runs_loss *loss)
{
    struct sweep *sweep = arg;
    enum job_stage stage = job_stage_of(loss->stage);
    int unit = plan_find(sweep->work.plan, loss->config);
    int shape =
        stage == JOB_BUILD ? 0 : plan_find_shape(sweep->work.plan, loss->shape);

    if (unit >= 0 && shape >= 0)
        sched_losses(sweep->work.sched, stage, unit, shape, (int)loss->losses);
}

/* Only builds and first screenings are adopted: a canary or a repetition of the
 * same measurement is another lease. */
static bool is_adoptable(enum job_stage stage, const char *purpose,
                         int64_t round)
{
    return stage == JOB_BUILD ||
           (round == 0 &&
            strcmp(purpose, sched_purpose_name(SCHED_SCREEN)) == 0);
}

/* Its worker may still be working on it, and says so when it is reached. */
static void keep_for_adoption(struct sweep *sweep,
                              const struct store_lease *lease)
{
    enum job_stage stage = job_stage_of(lease->stage);
    struct left_lease left = {
        .unit = work_find_unit(&sweep->work, lease->config, lease->purpose),
        .shape = stage == JOB_BUILD
                     ? 0
                     : plan_find_shape(sweep->work.plan, lease->shape),
        .stage = stage,
    };

    if (left.unit < 0 || left.shape < 0 ||
        !is_adoptable(stage, lease->purpose, lease->round))
        return;
    snprintf(left.host, sizeof(left.host), "%s", lease->host);
    sweep->work.left.list =
        mem_grow(sweep->work.left.list, sweep->work.left.n + 1,
                 sizeof(*sweep->work.left.list));
    sweep->work.left.list[sweep->work.left.n++] = left;
}

bool resume_was_given(const struct sweep *sweep, size_t host,
                      enum job_stage stage, int unit, int shape)
{
    for (size_t i = 0; i < sweep->work.left.n; i++) {
        const struct left_lease *left = &sweep->work.left.list[i];

        if (left->unit == unit && left->shape == shape &&
            left->stage == stage &&
            strcmp(left->host, sweep->fleet.hosts[host].host->name) == 0)
            return true;
    }
    for (size_t i = 0; i < sweep->work.n_issued; i++) {
        const struct issued_lease *grant = &sweep->work.issued[i];

        if (grant->unit == unit && grant->shape == shape &&
            grant->stage == stage && grant->host == (int)host &&
            is_adoptable(stage, sched_purpose_name(grant->purpose),
                         grant->round))
            return true;
    }
    return false;
}

static void take_left(void *arg, const struct store_lease *lease)
{
    keep_for_adoption(arg, lease);
}

static void end_open_lease(void *arg, const struct store_lease *lease)
{
    struct sweep *sweep = arg;
    struct err err;

    keep_for_adoption(sweep, lease);

    if (store_lease_end(sweep->mail.store, lease->epoch, lease->id,
                        leases_ending_name(LEASES_CANCELLED),
                        reactor_utc(sweep), &err) == 0)
        records_dirty(sweep);
}

int resume_take_past(struct sweep *sweep, struct err *err)
{
    struct progress_facts facts;
    struct past_runs *history;
    int64_t old = 0;
    int total, rc = past_runs_open(sweep->mail.store, &history, err);

    if (rc < 0)
        return rc;
    rc = pass_recall(sweep, history, err);
    if (rc == 0)
        rc = sweep->passes.lead ? 0 : take_outcomes(sweep, history, err);
    if (rc == 0)
        rc = past_runs_losses(history, take_loss, sweep, err);
    if (rc == 0)
        rc = past_runs_left_leases(history, sweep->reactor.epoch, take_left,
                                   sweep, err);
    if (rc == 0)
        rc = past_runs_open_leases(history, sweep->reactor.epoch,
                                   end_open_lease, sweep, err);
    past_runs_close(history);
    if (rc == 0)
        rc = stored_work_outcomes(sweep->mail.store, &old, err);
    old -= sweep->work.count.settled;
    if (rc == 0 && old > 0 && !sweep->reactor.options->ask)
        progress_say(sweep->reactor.progress,
                     "%lld old results are kept, not comparable: they are for "
                     "other sources, values or shapes",
                     (long long)old);
    progress_view_facts(sweep, &facts);
    total = facts.total * plan_shapes(sweep->work.plan);
    if (rc == 0 && sweep->work.count.settled > 0)
        progress_say(sweep->reactor.progress,
                     "%d of %d measurements are stored already",
                     sweep->work.count.settled, total);
    return rc;
}

/* Who has what an earlier run built on a host: the same one, in its cache, or
 * the coordinator; or -1.  If not, it is asked for, and the unit is built
 * again. */
static int holder_of(const struct sweep *sweep, size_t host,
                     const struct past_runs_build *built)
{
    if (strcmp(built->host, sweep->fleet.hosts[host].host->name) == 0)
        return (int)host;
    return kept_artifacts_has(sweep, built->artifact)
               ? kept_artifacts_home(sweep)
               : -1;
}

static int take_built(struct sweep *sweep, struct past_runs *history,
                      size_t host, int unit, struct err *err)
{
    const struct plan_unit *u = plan_unit(sweep->work.plan, unit);
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    struct past_runs_build built;
    char key[HASH_HEX];
    int rc, holder = -1;

    if (!*u->source_key || /* no host has taken it yet */
        sched_job(sweep->work.sched, JOB_BUILD, unit, 0)->state != JOB_WAITING)
        return 0;
    plan_build_key(sweep->work.plan, unit, host_state->worker.toolkit, key);
    rc = past_runs_build(history, *u->key ? u->key : u->source_key,
                         u->source_key, &built, err);
    if (rc == 1 && strcmp(built.build_key, key) == 0)
        holder = holder_of(sweep, host, &built);
    if (holder >= 0) {
        memcpy(sweep->work.artifacts[unit], built.artifact, HASH_HEX);
        sched_built_at(sweep->work.sched, unit, holder);
    }
    if (holder == (int)host)
        artifacts_built(sweep, host, unit);
    return err_only(rc);
}

/* SQLite may have rolled back what is not committed, so the sweep ends. */
static void check_read(struct sweep *sweep, int rc, const struct err *err)
{
    if (rc < 0)
        reactor_fail(sweep, EXIT_DATABASE, err);
}

/* What the coordinator has may be from any host with the same compiler.  The
 * first of these looks for all. */
static bool looks_for_copies(const struct sweep *sweep, size_t host)
{
    const struct host_state *hosts = sweep->fleet.hosts;

    for (size_t i = 0; i < host; i++)
        if (hosts[i].state == HOST_STATE_READY &&
            strcmp(hosts[i].worker.toolkit, hosts[host].worker.toolkit) == 0)
            return false;
    return sweep->reactor.options->cache != NULL;
}

/* A thousand hosts may come, and most of them have never built. */
static int take_all_built(struct sweep *sweep, struct past_runs *history,
                          size_t host, struct err *err)
{
    int rc =
        past_runs_built_on(history, sweep->fleet.hosts[host].host->name, err);

    if (rc == 0 && looks_for_copies(sweep, host))
        rc = 1;
    for (int unit = 0; rc > 0 && unit <= plan_units(sweep->work.plan); unit++)
        rc = take_built(sweep, history, host, unit, err) < 0 ? ERR_STORE : 1;
    return err_only(rc);
}

void resume_take_cache(struct sweep *sweep, size_t host)
{
    struct past_runs *history;
    struct err err;
    int rc = past_runs_open(sweep->mail.store, &history, &err);

    if (rc == 0) {
        rc = take_all_built(sweep, history, host, &err);
        past_runs_close(history);
    }
    check_read(sweep, rc, &err);
}

void resume_take_built(struct sweep *sweep, int unit)
{
    struct past_runs *history;
    struct err err;
    int rc = past_runs_open(sweep->mail.store, &history, &err);

    if (rc == 0) {
        for (size_t host = 0; rc == 0 && host < sweep->fleet.n; host++)
            if (sweep->fleet.hosts[host].state == HOST_STATE_READY &&
                !sweep->fleet.hosts[host].is_lost) /* it may not come back */
                rc = take_built(sweep, history, host, unit, &err);
        past_runs_close(history);
    }
    check_read(sweep, rc, &err);
}
