#include "coordinator/sweep_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/history.h"
#include "coordinator/replay.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/terms.h"

#define JSON_MAX (1 << 20)

/* Dollars of earlier runs, at the rates of now. */
static double usd_of_earlier_runs(struct sweep *sweep)
{
    static const char sql[] =
        "SELECT coalesce(sum((i.end_ns - i.start_ns) / 3.6e12 * "
        "h.rate_usd_per_h), 0) FROM interval i JOIN host h ON h.name = i.host";
    sqlite3_stmt *stmt;
    double usd = 0;

    if (sqlite3_prepare_v2(store_db(sweep->store), sql, -1, &stmt, NULL) ==
            SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        usd = sqlite3_column_double(stmt, 0);
    sqlite3_finalize(stmt);
    return usd;
}

bool sweep_was_leased(struct sweep *sweep, size_t host, const struct msg *msg)
{
    static const char sql[] =
        "SELECT 1 FROM lease WHERE epoch = ?1 AND id = ?2 AND host = ?3 AND "
        "config = ?4 AND shape = ?5 AND stage = ?6 AND purpose = ?7 AND "
        "round = ?8";
    const char *const texts[] = { sweep->boxes[host].host->name, msg->id.config,
                                  msg->id.shape, msg->id.stage,
                                  msg->id.purpose };
    sqlite3_stmt *stmt;
    bool found = false;

    if (sqlite3_prepare_v2(store_db(sweep->store), sql, -1, &stmt, NULL) !=
        SQLITE_OK)
        return false;
    sqlite3_bind_int64(stmt, 1, msg->epoch);
    sqlite3_bind_int64(stmt, 2, msg->lease);
    for (int i = 0; i < 5; i++)
        sqlite3_bind_text(stmt, 3 + i, texts[i], -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 8, msg->id.round);
    found = sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    return found;
}

/* Each selection is a sweep of its own, so that a report shows just that. */
static void hash_ask(const struct plan *plan, struct hash *hash)
{
    for (int unit = 0; unit < plan_units(plan); unit++)
        hash_text(hash, plan_unit(plan, unit)->key);
    for (int shape = 0; shape < plan_shapes(plan); shape++)
        hash_text(hash, plan_measure_key(plan, shape));
}

/* What identifies this sweep: the file, the sources, the device, and what of
 * it was asked for. */
static void sweep_key(const struct sweep *sweep, char out[HASH_HEX])
{
    int reference = plan_units(sweep->plan);
    struct msg kernel = { 0 };
    struct hash hash;

    hash_init(&hash);
    hash_field(&hash, sweep->spec->text, sweep->spec->len);
    plan_bundle(sweep->plan, 0, &kernel);
    hash_text(&hash, kernel.hash);
    plan_bundle(sweep->plan, reference, &kernel);
    hash_text(&hash, kernel.hash);
    hash_text(&hash, sweep->options->device);
    hash_text(&hash, sweep->arch);
    if (sweep->options->ask)
        hash_ask(sweep->plan, &hash);
    hash_end(&hash, out);
}

static char *settings_json(const struct sweep *sweep)
{
    const struct sweep_options *o = sweep->options;
    const struct spec_measure *m = &sweep->spec->measure;
    char *recorded =
        sweep->spec->replay ? replay_json(sweep->spec->replay) : NULL;
    struct buf buf;

    buf_init(&buf, JSON_MAX);
    buf_printf(&buf, "{");
    if (o->terms)
        terms_settings(o->terms, &buf);
    buf_printf(
        &buf,
        "\"recorded\": %s, \"device\": \"%s\", \"asked\": %s, "
        "\"method\": \"%s\", "
        "\"attempts\": %d, "
        "\"linger_s\": %d, \"max_hours\": %.17g, \"budget_usd\": %.17g, "
        "\"warmups\": %d, \"least\": %d, \"most\": %d, \"noise\": %.17g, "
        "\"margin\": %.17g, \"timeout_s\": %.17g, "
        "\"seed\": %lld, \"l2\": \"%s\"}",
        recorded ? recorded : "null", o->device, o->ask ? "true" : "false",
        sweep_search_method(sweep), o->attempts, o->linger_s, o->max_hours,
        o->budget_usd, m->warmups, m->least, m->most, m->noise, m->margin,
        m->timeout_s, (long long)m->seed, m->l2);
    free(recorded);
    return buf.bytes;
}

static int put_sweep(struct sweep *sweep, int64_t passed, struct err *err)
{
    char *settings = settings_json(sweep), key[HASH_HEX];
    struct buf facts;
    int rc;

    buf_init(&facts, JSON_MAX);
    arch_json(&sweep->facts, &facts);
    sweep_key(sweep, key);
    rc = store_sweep_put(
        sweep->store,
        &(struct store_sweep){ .key = key,
                               .name = sweep->spec->name,
                               .folder = sweep->spec->folder,
                               .file = sweep->spec->file,
                               .hosts_file = sweep->options->hosts_file,
                               .spec = sweep->spec->text,
                               .device = sweep->options->device,
                               .arch = sweep->arch,
                               .facts = buf_text(&facts),
                               .settings = settings,
                               .configurations =
                                   sweep->options->ask || sweep->spec->replay
                                       ? passed
                                       : space_size(sweep->space),
                               .passed = passed,
                               .created_utc = clock_utc_ns() },
        &sweep->sweep_id, err);
    buf_fini(&facts);
    free(settings);
    return rc;
}

static int put_gates(struct sweep *sweep, const struct space_gate_count *counts,
                     struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sweep->spec->n_gates; i++) {
        const struct spec_gate *gate = &sweep->spec->gates[i];
        const struct space_gate_count none = { -1, -1, -1 };
        const struct space_gate_count *count = gate->warns ? &none : &counts[i];

        rc = store_gate_put(
            sweep->store,
            &(struct store_gate){ .sweep = sweep->sweep_id,
                                  .position = (int64_t)i,
                                  .name = gate->name,
                                  .kind = gate->warns ? "warn" : "reject",
                                  .rule = gate->rule.text,
                                  .why = gate->why ? gate->why : "",
                                  .rejected_first = count->rejected_first,
                                  .rejected_alone = count->rejected_alone },
            err);
    }
    return rc;
}

static char *shape_json(const struct spec *spec, const struct spec_shape *shape)
{
    struct buf buf;

    buf_init(&buf, JSON_MAX);
    buf_printf(&buf, "{");
    for (size_t i = 0; i < spec->n_vars; i++)
        buf_printf(&buf, "%s\"%s\": %lld", i ? ", " : "", spec->vars[i],
                   (long long)shape->vars[i]);
    buf_printf(&buf, "}");
    return buf.bytes;
}

static int put_shapes(struct sweep *sweep, struct err *err)
{
    const struct spec *spec = sweep->spec;
    const struct plan_ask *ask = sweep->options->ask;
    size_t n;
    const struct spec_shape *shapes = space_shapes(sweep->space, &n);
    int rc = 0;

    if (ask) {
        shapes = ask->shapes;
        n = ask->n_shapes;
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct store_shape row = { .sweep = sweep->sweep_id,
                                   .position = (int64_t)i,
                                   .name = shapes[i].name };
        char *vars = shape_json(spec, &shapes[i]);
        int floor;

        row.vars = vars;
        rc = space_floor(sweep->space, &shapes[i], &row.floor_s, &floor, err);
        row.floor_name = floor < 0 ? NULL : spec->floors[floor].name;
        if (rc == 0)
            rc = store_shape_put(sweep->store, &row, err);
        free(vars);
    }
    return rc;
}

int sweep_put_config(struct sweep *sweep, int unit, struct err *err)
{
    const struct plan_unit *u = plan_unit(sweep->plan, unit);
    char *params = plan_params(sweep->plan, unit);
    char *warnings = plan_warnings(sweep->plan, unit);
    int rc = store_config_put(sweep->store,
                              &(struct store_config){
                                  .key = u->key,
                                  .sweep = sweep->sweep_id,
                                  .point = u->point,
                                  .baseline = u->baseline,
                                  .params = params,
                                  .warnings = warnings,
                                  .source_key = u->source_key,
                              },
                              err);

    free(params);
    free(warnings);
    return rc;
}

static int put_configs(struct sweep *sweep, struct err *err)
{
    int rc = 0;

    for (int unit = 0; rc == 0 && unit < plan_taken(sweep->plan); unit++)
        rc = sweep_put_config(sweep, unit, err);
    return rc;
}

static int write_down(struct sweep *sweep,
                      const struct space_gate_count *counts, int64_t passed,
                      struct err *err)
{
    int rc;

    if (sweep->options->ask)
        passed = plan_units(sweep->plan);
    rc = put_sweep(sweep, passed, err);
    if (rc == 0)
        rc = put_gates(sweep, counts, err);
    if (rc == 0)
        rc = put_shapes(sweep, err);
    if (rc == 0)
        rc = put_configs(sweep, err);
    sweep_dirty(sweep);
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

/* Work that was only lost gets another chance; so does what a gate rejected
 * that does so no more.  Who asks whether something is right wants to know
 * it: what could not be run is tried again. */
static bool is_worth_another(const struct sweep *sweep,
                             const struct history_outcome *was)
{
    return strcmp(was->outcome, "lost") == 0 ||
           (strcmp(was->outcome, "constraints") == 0 && !was->measured) ||
           (strcmp(was->outcome, "crash") == 0 && sweep->options->ask);
}

/* What is settled for these very sources and this way of measuring stays
 * settled. */
static int take_outcomes(struct sweep *sweep, struct history *history,
                         struct err *err)
{
    for (int unit = 0; unit < plan_taken(sweep->plan); unit++) {
        const struct plan_unit *u = plan_unit(sweep->plan, unit);

        for (int shape = 0; shape < plan_shapes(sweep->plan); shape++) {
            struct store_outcome key = {
                .config = u->key,
                .shape = plan_shape_name(sweep->plan, shape),
                .source_key = u->source_key,
                .measure_key = plan_measure_key(sweep->plan, shape),
            };
            struct history_outcome was;
            int rc = history_outcome(history, &key, &was, err);
            bool correct = rc == 1 && strcmp(was.outcome, "correct") == 0;

            if (rc < 0)
                return rc;
            if (plan_gate(sweep->plan, unit, shape) >= 0) {
                skip(sweep, unit, shape);
                continue;
            }
            if (rc == 0 || is_worth_another(sweep, &was))
                continue;
            sched_settled(sweep->sched, JOB_MEASURE, unit, shape, correct);
            sweep->n_settled++;
            sweep->n_correct += correct;
            if (correct && was.agreed)
                incumbents_remember(sweep->incumbents, shape, was.median_s,
                                    sweep->spec->measure.noise);
            sweep_search_settled(sweep, unit, shape, was.outcome, was.median_s);
        }
    }
    return 0;
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

static int64_t count_old(struct sweep *sweep)
{
    static const char sql[] = "SELECT count(*) FROM outcome";
    sqlite3_stmt *stmt;
    int64_t n = 0;

    if (sqlite3_prepare_v2(store_db(sweep->store), sql, -1, &stmt, NULL) ==
            SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

static int take_history(struct sweep *sweep, struct err *err)
{
    int total = sweep_search_total(sweep) * plan_shapes(sweep->plan);
    struct history *history;
    int64_t old;
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
    old = count_old(sweep) - sweep->n_settled;
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

/* Builds that are not asked for are settled before they begin. */
static int leave_out(struct sweep *sweep, struct err *err)
{
    int units = plan_units(sweep->plan), rc = 0;
    int64_t *chosen = NULL;
    size_t n = 0, at = 0;

    /* Nobody compares with the reference. */
    sched_settled(sweep->sched, JOB_BUILD, units, 0, true);
    if (sweep->options->cover)
        rc = space_cover(sweep->space, &chosen, &n, err);
    for (int unit = 0; chosen && unit < units; unit++) {
        const struct plan_unit *u = plan_unit(sweep->plan, unit);

        if (u->baseline)
            continue;
        while (at < n && chosen[at] < u->point)
            at++;
        if (at < n && chosen[at] == u->point)
            continue;
        sched_settled(sweep->sched, JOB_BUILD, unit, 0, true);
        sweep->n_left_out++;
    }
    free(chosen);
    return rc;
}

/* Everything that a host needs to get work, once the space is known. */
static int make_ready(struct sweep *sweep, struct space_gate_count *counts,
                      struct err *err)
{
    int64_t passed = 0;
    int rc = space_count(sweep->space, counts, &passed, err);

    if (rc == 0)
        rc = sweep_search_choose(sweep, passed, err);
    if (rc == 0)
        rc = sweep->search
                 ? sweep_search_plan(sweep, err)
                 : plan_make(sweep->spec, sweep->space, sweep->options->ask,
                             sweep->options->device, sweep->arch, &sweep->plan,
                             err);
    if (rc < 0)
        return rc;
    if (sweep->options->builds_only)
        plan_drop_shapes(sweep->plan);
    sweep->incumbents = incumbents_new(plan_shapes(sweep->plan));
    sweep->sched = sched_new((struct sched_limits){
        .units = plan_units(sweep->plan),
        .shapes = plan_shapes(sweep->plan),
        .hosts = (int)sweep->n_boxes,
        .attempts = sweep->options->attempts,
    });
    sweep_search_hold(sweep);
    sweep->artifacts = mem_new((size_t)plan_units(sweep->plan) + 1, HASH_HEX);
    if (sweep->options->builds_only)
        rc = leave_out(sweep, err);
    if (rc == 0)
        rc = sweep->options->contest   ? sweep_contest_begin(sweep, err)
             : sweep->options->profile ? sweep_profile_begin(sweep, err)
                                       : write_down(sweep, counts, passed, err);
    return rc;
}

int sweep_prepare(struct sweep *sweep, struct err *err)
{
    struct space_gate_count *counts =
        mem_new(sweep->spec->n_gates, sizeof(*counts));
    int rc;

    if (strcmp(sweep->options->device, "cuda") != 0)
        snprintf(sweep->arch, sizeof(sweep->arch), "%s",
                 sweep->options->device);
    else
        snprintf(sweep->arch, sizeof(sweep->arch), "sm_%d",
                 (int)sweep->facts.arch);
    rc = space_open(sweep->spec, &sweep->facts, sweep->options->device,
                    &sweep->space, err);
    if (rc == 0)
        rc = make_ready(sweep, counts, err);
    free(counts);
    if (rc == 0)
        rc = take_history(sweep, err);
    if (rc == 0)
        sweep_search_begin(sweep);
    if (rc == 0)
        rc = sweep_canary_begin(sweep, err);
    for (size_t i = 0; rc == 0 && i < sweep->n_boxes; i++)
        if (sweep->boxes[i].state == BOX_READY)
            sweep_box_up(sweep, i);
    return rc;
}

int sweep_begin(struct sweep *sweep, struct err *err)
{
    const char *arch = sweep->options->arch;
    const struct arch_facts *facts = arch_find(arch);

    sweep->usd_before = usd_of_earlier_runs(sweep) + sweep->options->usd_before;
    if (strcmp(sweep->options->device, "cpu") != 0 &&
        !sweep->options->builds_only)
        return 0; /* the GPU's own facts are awaited */
    sweep->facts = *facts;
    snprintf(sweep->gpu_name, sizeof(sweep->gpu_name), "%s",
             arch_gpu_name(facts));
    return sweep_prepare(sweep, err);
}
