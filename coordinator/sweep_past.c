#include "coordinator/sweep_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/history.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"

int sweep_past_usd(struct sweep *sweep, double *out, struct err *err)
{
    static const char text[] =
        "SELECT coalesce(sum((i.end_ns - i.start_ns) / 3.6e12 * "
        "h.rate_usd_per_h), 0) FROM interval i JOIN host h ON h.name = i.host";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(sweep->store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "");
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        *out = sql_real(stmt, 0);
    sql_free(stmt);
    return rc < 0 ? rc : 0;
}

int sweep_was_leased(struct sweep *sweep, size_t host, const struct msg *msg,
                     struct err *err)
{
    static const char text[] =
        "SELECT 1 FROM lease WHERE epoch = ?1 AND id = ?2 AND host = ?3 AND "
        "config = ?4 AND shape = ?5 AND stage = ?6 AND purpose = ?7 AND "
        "round = ?8";
    const struct msg_identity *id = &msg->id;
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(sweep->store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "IIsssssI", msg->epoch, msg->lease,
                       sweep->boxes[host].host->name, id->config, id->shape,
                       id->stage, id->purpose, id->round);
    if (rc == 0)
        rc = sql_step(stmt, err);
    sql_free(stmt);
    return rc;
}

/* A gate rejects it for this shape: it is not run. */
static void skip(struct sweep *sweep, int unit, int shape)
{
    const struct spec_gate *gate =
        &sweep->spec->gates[plan_gate(sweep->plan, unit, shape)];
    char *reason = mem_printf("gate '%s': %s", gate->name, gate->why);

    sweep_put_outcome(sweep, unit, shape, "constraints", reason, NULL,
                      (double)NAN);
    free(reason);
    sched_settled(sweep->sched, JOB_MEASURE, unit, shape, false);
    sweep->n_settled++;
}

/* What is settled for these very sources and this way of measuring. */
struct was {
    char outcome[16]; /* "": it is not */
    double median_s;
    bool measured;
};

struct past {
    struct sweep *sweep;
    struct was *was; /* [units][shapes] */
};

static struct was *was_of(const struct past *past, int unit, int shape)
{
    return &past->was[unit * plan_shapes(past->sweep->plan) + shape];
}

static void find_settled(void *arg, const struct history_settled *settled)
{
    const struct past *past = arg;
    const struct plan *plan = past->sweep->plan;
    int unit = plan_find(plan, settled->config);
    int shape = plan_find_shape(plan, settled->shape);
    struct was *was;

    if (unit < 0 || shape < 0 ||
        strcmp(settled->source_key, plan_unit(plan, unit)->source_key) != 0 ||
        strcmp(settled->measure_key, plan_measure_key(plan, shape)) != 0)
        return;
    was = was_of(past, unit, shape);
    snprintf(was->outcome, sizeof(was->outcome), "%s", settled->outcome);
    was->median_s = settled->median_s;
    was->measured = settled->measured;
}

/* Work that was only lost gets another chance; so does what a gate rejected
 * that does so no more.  Who asks whether something is right wants to know
 * it: what could not be run is tried again. */
static bool is_worth_another(const struct sweep *sweep, const struct was *was)
{
    return strcmp(was->outcome, "lost") == 0 ||
           (strcmp(was->outcome, "constraints") == 0 && !was->measured) ||
           (strcmp(was->outcome, "crash") == 0 && sweep->options->ask);
}

/* Only what is faster than the others says anything, so few are looked at. */
static int remember(struct sweep *sweep, struct history *history, int unit,
                    int shape, double median_s, struct err *err)
{
    const struct plan_unit *u = plan_unit(sweep->plan, unit);
    double noise = sweep->spec->measure.noise;
    struct store_outcome key = {
        .config = u->key,
        .shape = plan_shape_name(sweep->plan, shape),
        .source_key = u->source_key,
        .measure_key = plan_measure_key(sweep->plan, shape),
    };
    struct history_outcome was;
    int rc;

    if (!incumbents_is_new(sweep->incumbents, shape, median_s, noise))
        return 0;
    rc = history_outcome(history, &key, &was, err);
    if (rc == 1 && was.agreed)
        incumbents_remember(sweep->incumbents, shape, median_s, noise);
    return rc < 0 ? rc : 0;
}

/* It stays settled. */
static int take_outcome(struct sweep *sweep, struct history *history, int unit,
                        int shape, const struct was *was, struct err *err)
{
    bool correct = strcmp(was->outcome, "correct") == 0;
    int rc = 0;

    if (plan_gate(sweep->plan, unit, shape) >= 0) {
        skip(sweep, unit, shape);
        return 0;
    }
    if (!*was->outcome || is_worth_another(sweep, was))
        return 0;
    sched_settled(sweep->sched, JOB_MEASURE, unit, shape, correct);
    sweep->n_settled++;
    sweep->n_correct += correct;
    if (correct)
        rc = remember(sweep, history, unit, shape, was->median_s, err);
    sweep_search_settled(sweep, unit, shape, was->outcome, was->median_s);
    return rc;
}

static int take_outcomes(struct sweep *sweep, struct history *history,
                         struct err *err)
{
    int units = plan_taken(sweep->plan), shapes = plan_shapes(sweep->plan);
    struct past past = { sweep, mem_new((size_t)units * (size_t)shapes + 1,
                                        sizeof(struct was)) };
    int rc = history_settled(history, find_settled, &past, err);

    for (int unit = 0; rc == 0 && unit < units; unit++)
        for (int shape = 0; rc == 0 && shape < shapes; shape++)
            rc = take_outcome(sweep, history, unit, shape,
                              was_of(&past, unit, shape), err);
    free(past.was);
    return rc;
}

static void take_loss(void *arg, const struct history_loss *loss)
{
    struct sweep *sweep = arg;
    bool build = strcmp(loss->stage, "build") == 0;
    int unit = plan_find(sweep->plan, loss->config);
    int shape = build ? 0 : plan_find_shape(sweep->plan, loss->shape);

    if (unit >= 0 && shape >= 0)
        sched_losses(sweep->sched, build ? JOB_BUILD : JOB_MEASURE, unit, shape,
                     (int)loss->losses);
}

static void end_open_lease(void *arg, const struct store_lease *lease)
{
    struct sweep *sweep = arg;
    struct err err;

    if (store_lease_end(sweep->store, lease->epoch, lease->id, "cancelled",
                        clock_utc_ns(), &err) == 0)
        sweep_dirty(sweep);
}

int sweep_take_past(struct sweep *sweep, struct err *err)
{
    int total = sweep_search_total(sweep) * plan_shapes(sweep->plan);
    struct history *history;
    int64_t old = 0;
    int rc = history_open(sweep->store, &history, err);

    if (rc < 0)
        return rc;
    rc = sweep_search_recall(sweep, history, err);
    if (rc == 0)
        rc = sweep->contest || sweep->profile
                 ? 0
                 : take_outcomes(sweep, history, err);
    if (rc == 0)
        rc = history_losses(history, take_loss, sweep, err);
    if (rc == 0)
        rc = history_open_leases(history, sweep->epoch, end_open_lease, sweep,
                                 err);
    history_close(history);
    if (rc == 0)
        rc = sql_number(store_db(sweep->store), "SELECT count(*) FROM outcome",
                        &old, err);
    old -= sweep->n_settled;
    if (rc == 0 && old > 0 && !sweep->options->ask)
        progress_say(sweep->progress,
                     "%lld old results are kept, not comparable: they are for "
                     "other sources, values or shapes",
                     (long long)old);
    if (rc == 0 && sweep->n_settled > 0)
        progress_say(sweep->progress, "%d of %d measurements are there already",
                     sweep->n_settled, total);
    return rc;
}

/* What a host built in an earlier run lies in its cache still; should it
 * not, it will ask, and the unit is built again. */
static void take_built(struct sweep *sweep, struct history *history,
                       size_t host, int unit)
{
    const struct plan_unit *u = plan_unit(sweep->plan, unit);
    const struct box *box = &sweep->boxes[host];
    struct history_build built;
    char key[HASH_HEX];
    struct err err;

    if (!*u->source_key || /* nobody has taken it yet */
        sched_job(sweep->sched, JOB_BUILD, unit, 0)->state != JOB_WAITING)
        return;
    plan_build_key(sweep->plan, unit, box->toolkit, key);
    if (history_build(history, *u->key ? u->key : u->source_key, u->source_key,
                      &built, &err) == 1 &&
        strcmp(built.host, box->host->name) == 0 &&
        strcmp(built.build_key, key) == 0) {
        memcpy(sweep->artifacts[unit], built.artifact, HASH_HEX);
        sched_built_at(sweep->sched, unit, (int)host);
    }
}

void sweep_take_cache(struct sweep *sweep, size_t host)
{
    struct history *history;
    struct err err;

    if (history_open(sweep->store, &history, &err) < 0)
        return;
    for (int unit = 0; unit <= plan_units(sweep->plan); unit++)
        take_built(sweep, history, host, unit);
    history_close(history);
}

void sweep_take_built(struct sweep *sweep, int unit)
{
    struct history *history;
    struct err err;

    if (history_open(sweep->store, &history, &err) < 0)
        return;
    for (size_t host = 0; host < sweep->n_boxes; host++)
        if (sweep->boxes[host].state == BOX_READY)
            take_built(sweep, history, host, unit);
    history_close(history);
}
