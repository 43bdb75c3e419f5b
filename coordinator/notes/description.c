#include "coordinator/notes/description.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"

#define JSON_MAX (1 << 20)
#define READ_FIRST 64 /* units looked up before any row is written */

/* Each selection is a sweep of its own, so that a report shows only that. */
static void hash_ask(const struct plan *plan, struct hash *hash)
{
    for (int unit = 0; unit < plan_units(plan); unit++)
        hash_text(hash, plan_unit(plan, unit)->key);
    for (int shape = 0; shape < plan_shapes(plan); shape++)
        hash_text(hash, plan_measure_key(plan, shape));
}

/* On another GPU the gates let other configurations pass. */
static void hash_facts(const struct sweep *sweep, struct hash *hash)
{
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        if (gpu_arch_is_named(sweep->work.spec->file.text, i)) {
            int64_t value = gpu_arch_fact(&sweep->work.facts, i);

            hash_text(hash, gpu_arch_fact_name(i));
            hash_field(hash, &value, sizeof(value));
        }
}

/* What identifies this sweep: the file, the sources, the device, the facts that
 * the file uses ('with_facts'), and the selection. */
static void sweep_key(const struct sweep *sweep, bool with_facts,
                      char out[HASH_HEX])
{
    int reference = plan_units(sweep->work.plan);
    struct msg_bundle kernel = { 0 };
    struct hash hash;

    hash_init(&hash);
    hash_field(&hash, sweep->work.spec->file.text, sweep->work.spec->file.len);
    plan_bundle(sweep->work.plan, 0, &kernel);
    hash_text(&hash, kernel.hash);
    plan_bundle(sweep->work.plan, reference, &kernel);
    hash_text(&hash, kernel.hash);
    hash_text(&hash, sweep->reactor.options->device);
    hash_text(&hash, sweep->work.arch);
    if (with_facts)
        hash_facts(sweep, &hash);
    if (sweep->reactor.options->ask)
        hash_ask(sweep->work.plan, &hash);
    hash_end(&hash, out);
}

static char *settings_json(const struct sweep *sweep)
{
    const struct sweep_options *o = sweep->reactor.options;
    const struct spec_measure *m = &sweep->work.spec->measure;
    char *recorded =
        sweep->work.spec->replay ? replay_json(sweep->work.spec->replay) : NULL;
    struct buf buf;

    buf_init(&buf, JSON_MAX);
    buf_printf(&buf, "{");
    if (o->search_settings)
        search_settings_put(o->search_settings, &buf);
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
        pass_method(sweep), o->attempts, o->stay.linger_s, o->caps.max_hours,
        o->caps.budget_usd, m->warmups, m->least, m->most, m->noise, m->margin,
        m->timeout_s, (long long)m->seed, m->l2);
    free(recorded);
    return buf.bytes;
}

/* Rows of earlier releases have keys without facts.  Such a sweep keeps its row
 * on a GPU with the same facts. */
static int choose_key(const struct sweep *sweep, const char *facts,
                      char out[HASH_HEX], struct err *err)
{
    struct store_sweep was = { .key = "", .device = "", .facts = "" };
    struct past_runs *past = NULL;
    char without[HASH_HEX];
    int rc;

    sweep_key(sweep, false, without);
    memcpy(out, without, HASH_HEX);
    if (!device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CUDA))
        return 0;
    rc = past_runs_open(sweep->mail.store, &past, err);
    if (rc == 0)
        rc = past_runs_sweep(past, &was, err);
    if (rc == 0 || (rc == 1 && (strcmp(was.key, without) != 0 ||
                                strcmp(was.facts, facts) != 0)))
        sweep_key(sweep, true, out);
    past_runs_close(past);
    return rc < 0 ? rc : 0;
}

static int put_sweep(struct sweep *sweep, int64_t passed, struct err *err)
{
    char *settings = settings_json(sweep), key[HASH_HEX];
    struct buf facts;
    int rc;

    buf_init(&facts, JSON_MAX);
    gpu_arch_json(&sweep->work.facts, &facts);
    rc = choose_key(sweep, buf_text(&facts), key, err);
    if (rc == 0)
        rc = store_sweep_put(
            sweep->mail.store,
            &(struct store_sweep){
                .key = key,
                .name = sweep->work.spec->name,
                .folder = sweep->work.spec->file.folder,
                .file = sweep->work.spec->file.name,
                .hosts_file = sweep->reactor.options->hosts_file,
                .spec = sweep->work.spec->file.text,
                .device = sweep->reactor.options->device,
                .arch = sweep->work.arch,
                .facts = buf_text(&facts),
                .settings = settings,
                .configurations =
                    sweep->reactor.options->ask || sweep->work.spec->replay
                        ? passed
                        : space_size(sweep->work.space),
                .passed = passed,
                .created_utc = sweep->reactor.epoch },
            &sweep->reactor.sweep_id, err);
    buf_fini(&facts);
    free(settings);
    return rc;
}

int description_put_facts(struct sweep *sweep, struct err *err)
{
    return put_sweep(sweep, sweep->work.count.passed, err);
}

/* A pass over selected configurations is not a sweep of its own. */
int description_put_request(struct sweep *sweep, struct err *err)
{
    const struct sweep_options *options = sweep->reactor.options;
    char *settings;
    int rc;

    if (options->ask || options->confirmation || options->tool ||
        options->builds_only)
        return 0;
    settings = settings_json(sweep);
    rc = store_request_put(
        sweep->mail.store,
        &(struct store_request){ .folder = sweep->work.spec->file.folder,
                                 .file = sweep->work.spec->file.name,
                                 .hosts_file = options->hosts_file,
                                 .device = options->device,
                                 .arch = options->arch,
                                 .settings = settings },
        err);
    free(settings);
    return rc;
}

static int put_gates(struct sweep *sweep, const struct space_gate_count *counts,
                     struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sweep->work.spec->space.n_gates; i++) {
        const struct spec_gate *gate = &sweep->work.spec->space.gates[i];
        const struct space_gate_count none = { -1, -1, -1 };
        const struct space_gate_count *count = gate->warns ? &none : &counts[i];

        rc = store_gate_put(
            sweep->mail.store,
            &(struct store_gate){ .sweep = sweep->reactor.sweep_id,
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
    for (size_t i = 0; i < spec->shapes.n_vars; i++)
        buf_printf(&buf, "%s\"%s\": %lld", i ? ", " : "", spec->shapes.vars[i],
                   (long long)shape->vars[i]);
    buf_printf(&buf, "}");
    return buf.bytes;
}

static int put_shapes(struct sweep *sweep, struct err *err)
{
    const struct spec *spec = sweep->work.spec;
    const struct plan_ask *ask = sweep->reactor.options->ask;
    size_t n;
    const struct spec_shape *shapes = space_shapes(sweep->work.space, &n);
    int rc = 0;

    if (ask) {
        shapes = ask->shapes;
        n = ask->n_shapes;
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct store_shape row = { .sweep = sweep->reactor.sweep_id,
                                   .position = (int64_t)i,
                                   .name = shapes[i].name };
        char *vars = shape_json(spec, &shapes[i]);
        int floor;

        row.vars = vars;
        rc = space_floor(sweep->work.space, &shapes[i], &row.floor_s, &floor,
                         err);
        row.floor_name = floor < 0 ? NULL : spec->figures.floors[floor].name;
        if (rc == 0)
            rc = store_shape_put(sweep->mail.store, &row, err);
        free(vars);
    }
    return rc;
}

static int put_config(struct sweep *sweep, int unit, struct err *err)
{
    const struct plan_unit *u = plan_unit(sweep->work.plan, unit);
    char *params = plan_params(sweep->work.plan, unit);
    char *warnings = plan_warnings(sweep->work.plan, unit);
    int rc = store_config_put(sweep->mail.store,
                              &(struct store_config){
                                  .key = u->key,
                                  .sweep = sweep->reactor.sweep_id,
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

/* Which units, from number 'from' on, are in the database unchanged. */
struct stored_units {
    struct sweep *sweep;
    int from;
    bool *same;
};

/* In one sweep file, a key always has the same parameters as text. */
static void find_same(void *arg, const struct past_runs_config *config)
{
    const struct stored_units *stored = arg;
    struct sweep *sweep = stored->sweep;
    int unit = config->sweep == sweep->reactor.sweep_id
                   ? plan_find(sweep->work.plan, config->key)
                   : -1;
    const struct plan_unit *u;
    char *warnings;

    if (unit < stored->from)
        return;
    u = plan_unit(sweep->work.plan, unit);
    warnings = plan_warnings(sweep->work.plan, unit);
    stored->same[unit - stored->from] =
        config->point == u->point && config->baseline == u->baseline &&
        strcmp(config->source_key, u->source_key) == 0 &&
        strcmp(config->warnings, warnings) == 0;
    free(warnings);
}

static int find_stored(struct stored_units *stored, struct err *err)
{
    struct past_runs *past = NULL;
    int rc = past_runs_open(stored->sweep->mail.store, &past, err);

    if (rc == 0)
        rc = past_runs_configs(past, find_same, stored, err);
    past_runs_close(past);
    return rc;
}

int description_put_configs(struct sweep *sweep, int from, struct err *err)
{
    int n = plan_taken(sweep->work.plan) - from, rc = 0;
    struct stored_units stored = { sweep, from, NULL };

    if (n == 0)
        return 0;
    stored.same = mem_new((size_t)n, sizeof(*stored.same));
    if (n >= READ_FIRST)
        rc = find_stored(&stored, err);
    for (int i = 0; rc == 0 && i < n; i++)
        if (!stored.same[i])
            rc = put_config(sweep, from + i, err);
    free(stored.same);
    return rc;
}

int description_put(struct sweep *sweep, const struct space_gate_count *counts,
                    int64_t passed, struct err *err)
{
    int rc;

    if (sweep->reactor.options->ask)
        passed = plan_units(sweep->work.plan);
    rc = put_sweep(sweep, passed, err);
    if (rc == 0)
        rc = put_gates(sweep, counts, err);
    if (rc == 0)
        rc = put_shapes(sweep, err);
    if (rc == 0)
        rc = description_put_configs(sweep, 0, err);
    records_dirty(sweep);
    return rc;
}
