#include "coordinator/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/bundle.h"
#include "coordinator/choice.h"
#include "coordinator/config.h"
#include "coordinator/replay.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"

#define TEXT_MAX (1 << 20) /* of a header, a request or a configuration */

/* Of the values that the fills make (worker/runner/fill.h): another one when
 * their bits change, so that results for other inputs do not count. */
#define FILL_REVISION "fill 2"

struct plan {
    const struct spec *spec;
    struct space *space;
    char arch[32];
    bool emulated;
    struct plan_unit *units; /* the configurations, then the reference */
    int n, cap;              /* without the reference, with what is not taken */
    int taken;
    int *by_key; /* [taken] indices of configurations, sorted by key */
    const struct spec_shape *shapes;
    size_t n_shapes;
    const struct plan_ask *ask; /* NULL: all that pass */
    signed char *gates; /* of what was asked for: units by shapes, -1 none */
    char baseline_key[HASH_HEX];
    char (*measure_keys)[HASH_HEX];
    struct bundle kernel, reference;
    struct value *values, *derived; /* of the unit last looked at */

    struct buf text; /* what the last plan_build() or plan_measure() made */
    const char *flag;
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
};

static bool is_reference(const struct plan *plan, int unit)
{
    return unit == plan->n;
}

void plan_values(const struct plan *plan, int unit, struct value *values)
{
    const struct plan_unit *at = &plan->units[unit];

    if (at->point >= 0) {
        space_values(plan->space, at->point, values);
        return;
    }
    assert(at->values); /* a configuration outside the axes */
    memcpy(values, at->values, plan->spec->n_axes * sizeof(*values));
}

/* The values of a configuration, in plan->values. */
static void look_at(const struct plan *plan, int unit)
{
    plan_values(plan, unit, plan->values);
}

static void hash_launch(struct hash *hash, const struct spec_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        hash_text(hash, launch->grid[i].text);
        hash_text(hash, launch->block[i].text);
    }
    hash_text(hash, launch->smem.text);
}

/* A reference is compiled plainly: no flags, no tunables. */
static void reference_source_key(struct plan *plan, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, "reference");
    hash_text(&hash, plan->reference.hash);
    hash_text(&hash, plan->spec->reference.entry);
    hash_text(&hash, plan->spec->standard);
    hash_text(&hash, plan->arch);
    hash_launch(&hash, &plan->spec->reference.launch);
    hash_end(&hash, out);
}

/* Writes the header of the configuration in plan->values to plan->text; where
 * a record answers, the record of it. */
static int make_header(struct plan *plan, struct err *err)
{
    int rc;

    if (plan->spec->replay)
        return replay_record(plan->spec->replay, plan->values, &plan->text,
                             err);
    rc = space_derive(plan->space, plan->values, plan->derived, err);

    buf_clear(&plan->text);
    if (rc == 0)
        config_header(plan->spec, plan->values, plan->derived, &plan->text);
    return rc;
}

static int kernel_source_key(struct plan *plan, char out[HASH_HEX],
                             struct err *err)
{
    const struct spec *spec = plan->spec;
    struct hash hash;
    int rc = make_header(plan, err);

    if (rc < 0)
        return rc;
    hash_init(&hash);
    hash_text(&hash, "kernel");
    hash_text(&hash, plan->kernel.hash);
    hash_text(&hash, buf_text(&plan->text));
    hash_text(&hash, spec->kernel.entry);
    hash_text(&hash, spec->standard);
    hash_text(&hash, plan->arch);
    for (size_t i = 0; i < spec->n_flags; i++)
        hash_text(&hash, spec->flags[i]);
    hash_launch(&hash, &spec->kernel.launch);
    hash_end(&hash, out);
    return 0;
}

static void hash_argument(struct hash *hash, const struct spec_argument *arg)
{
    char text[64];

    hash_text(hash, arg->name);
    hash_text(hash, arg->type);
    for (size_t i = 0; i < arg->n_dims; i++)
        hash_text(hash, arg->dims[i].text);
    snprintf(text, sizeof(text), "%d %d %.17g", arg->buffer, arg->output,
             arg->scale);
    hash_text(hash, text);
    hash_text(hash, arg->buffer ? arg->fill : "");
    hash_text(hash, arg->value.text ? arg->value.text : "");
    if (arg->scale_rule.text) /* its variables are the shape's */
        hash_text(hash, arg->scale_rule.text);
}

static void measure_key(struct plan *plan, const struct spec_shape *shape,
                        char out[HASH_HEX])
{
    const struct spec *spec = plan->spec;
    struct hash hash;
    char text[160];

    hash_init(&hash);
    hash_text(&hash, FILL_REVISION);
    hash_text(&hash, shape->name);
    for (size_t i = 0; i < spec->n_vars; i++) {
        snprintf(text, sizeof(text), "%s=%" PRId64, spec->vars[i],
                 shape->vars[i]);
        hash_text(&hash, text);
    }
    for (size_t i = 0; i < spec->n_arguments; i++)
        hash_argument(&hash, &spec->arguments[i]);
    hash_text(&hash, plan->units[plan->n].source_key);
    snprintf(text, sizeof(text), "%.17g %.17g %" PRId64 " %s",
             spec->relative_l2, spec->max_error, spec->measure.seed,
             spec->measure.l2);
    hash_text(&hash, text);
    hash_end(&hash, out);
}

static int add_unit(struct plan *plan, const struct chosen *chosen,
                    struct err *err)
{
    struct plan_unit *unit;

    /* One more: the reference goes behind the last. */
    if (plan->taken + 1 >= plan->cap) {
        plan->cap = plan->cap ? plan->cap * 2 : 64;
        plan->units =
            mem_grow(plan->units, (size_t)plan->cap, sizeof(*plan->units));
    }
    unit = &plan->units[plan->taken];
    *unit = (struct plan_unit){ .point = chosen->point,
                                .warned = chosen->warned,
                                .values = chosen->values };
    look_at(plan, plan->taken++);
    config_key(plan->spec, plan->values, unit->key);
    unit->baseline =
        plan->spec->baseline && strcmp(unit->key, plan->baseline_key) == 0;
    return kernel_source_key(plan, unit->source_key, err);
}

/* The baseline is measured even where a warn gate is hit; rejected by a gate
 * it cannot be, and then there is nothing to compare with. */
static int add_baseline(struct plan *plan, int64_t *point, struct err *err)
{
    const struct spec *spec = plan->spec;
    int gate;

    *point = -1;
    if (!spec->baseline)
        return 0;
    gate = space_rejected_by(plan->space, spec->baseline, err);
    if (gate == SPACE_ERROR)
        return ERR_INPUT;
    if (gate != SPACE_PASSES)
        return spec_err(spec, spec->baseline_at, err,
                        "every configuration is compared with the baseline, "
                        "so it must be able to run",
                        "gate '%s' rejects the baseline",
                        spec->gates[gate].name);
    *point = space_number(plan->space, spec->baseline);
    return add_unit(
        plan,
        &(struct chosen){ .point = *point,
                          .values = *point < 0 ? spec->baseline : NULL },
        err);
}

static int add_survivors(struct plan *plan, int64_t baseline, struct err *err)
{
    struct space_point point;
    int rc, survivors = 0;

    while ((rc = space_next(plan->space, &point, err)) == 1) {
        survivors++;
        if (point.number == baseline && plan->taken > 0) {
            plan->units[0].warned = point.warned;
            continue;
        }
        rc = add_unit(
            plan,
            &(struct chosen){ .point = point.number, .warned = point.warned },
            err);
        if (rc < 0)
            return rc;
    }
    if (rc == 0 && survivors == 0)
        return err_set(err, ERR_INPUT,
                       "no configuration passes the gates; `fa-coord space` "
                       "shows what each of them rejects");
    return rc;
}

static int add_all(struct plan *plan, struct err *err)
{
    int64_t baseline;
    int rc = add_baseline(plan, &baseline, err);

    return rc == 0 ? add_survivors(plan, baseline, err) : rc;
}

/* Which of the shapes asked for a unit is rejected for. */
static int find_gates(struct plan *plan, int unit, struct err *err)
{
    look_at(plan, unit);
    for (size_t s = 0; s < plan->n_shapes; s++) {
        int gate =
            space_rejected_at(plan->space, plan->values, &plan->shapes[s], err);

        if (gate == SPACE_ERROR)
            return ERR_INPUT;
        plan->gates[(size_t)unit * plan->n_shapes + s] =
            (signed char)(gate == SPACE_PASSES ? -1 : gate);
    }
    return 0;
}

static int add_asked(struct plan *plan, struct err *err)
{
    struct chosen *chosen;
    size_t n;
    int rc = choice_resolve(plan->ask->choice, plan->spec, plan->space, &chosen,
                            &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_unit(plan, &chosen[i], err);
    free(chosen);
    plan->gates = mem_new((size_t)plan->taken * plan->n_shapes + 1, 1);
    for (int unit = 0; rc == 0 && unit < plan->taken; unit++)
        rc = find_gates(plan, unit, err);
    return rc;
}

/* Room that is not taken is not touched, and has no memory until it is. */
static int add_room(struct plan *plan, int room, struct err *err)
{
    int64_t baseline;

    plan->cap = room + 2;
    plan->units = mem_new((size_t)plan->cap, sizeof(*plan->units));
    return add_baseline(plan, &baseline, err);
}

static int by_key(const void *a, const void *b, void *arg)
{
    const struct plan *plan = arg;

    return strcmp(plan->units[*(const int *)a].key,
                  plan->units[*(const int *)b].key);
}

static void make_index(struct plan *plan)
{
    plan->by_key = mem_new((size_t)plan->n + 1, sizeof(*plan->by_key));
    for (int i = 0; i < plan->taken; i++)
        plan->by_key[i] = i;
    qsort_r(plan->by_key, (size_t)plan->taken, sizeof(*plan->by_key), by_key,
            plan);
}

static struct plan *plan_new(const struct spec *spec, struct space *space,
                             const char *device, const char *arch)
{
    struct plan *plan = mem_new(1, sizeof(*plan));

    plan->spec = spec;
    plan->space = space;
    plan->emulated = strcmp(device, "cpu") == 0;
    snprintf(plan->arch, sizeof(plan->arch), "%s", arch);
    plan->values = mem_new(spec->n_axes, sizeof(*plan->values));
    plan->derived = mem_new(spec->n_derived, sizeof(*plan->derived));
    plan->shapes = space_shapes(space, &plan->n_shapes);
    if (spec->baseline)
        config_key(spec, spec->baseline, plan->baseline_key);
    buf_init(&plan->text, TEXT_MAX);
    return plan;
}

static int load_bundles(struct plan *plan, struct err *err)
{
    const struct spec_kernel *kernel = &plan->spec->kernel;
    const struct spec_kernel *reference = &plan->spec->reference;
    int rc;

    if (plan->spec->replay) {
        bundle_of_record(REPLAY_FILE, &plan->kernel);
        bundle_of_record(REPLAY_FILE, &plan->reference);
        return 0;
    }
    rc = bundle_load(plan->spec, kernel->source, kernel->source_at,
                     plan->emulated, &plan->kernel, err);
    if (rc == 0)
        rc = bundle_load(plan->spec, reference->source, reference->source_at,
                         plan->emulated, &plan->reference, err);
    return rc;
}

/* The units are there: all that is known of them together. */
static void complete(struct plan *plan, int units)
{
    plan->n = units;
    plan->units[plan->n] = (struct plan_unit){ .point = -1 };
    reference_source_key(plan, plan->units[plan->n].source_key);
    plan->measure_keys = mem_new(plan->n_shapes, HASH_HEX);
    for (size_t i = 0; i < plan->n_shapes; i++)
        measure_key(plan, &plan->shapes[i], plan->measure_keys[i]);
    make_index(plan);
}

int plan_make(const struct spec *spec, struct space *space,
              const struct plan_ask *ask, const char *device, const char *arch,
              struct plan **out, struct err *err)
{
    struct plan *plan = plan_new(spec, space, device, arch);
    int rc;

    plan->ask = ask;
    if (ask) {
        plan->shapes = ask->shapes;
        plan->n_shapes = ask->n_shapes;
    }
    rc = load_bundles(plan, err);
    if (rc == 0)
        rc = ask ? add_asked(plan, err) : add_all(plan, err);
    if (rc < 0) {
        plan_free(plan);
        return rc;
    }
    complete(plan, plan->taken);
    *out = plan;
    return 0;
}

int plan_make_open(const struct spec *spec, struct space *space, int room,
                   const char *device, const char *arch, struct plan **out,
                   struct err *err)
{
    struct plan *plan = plan_new(spec, space, device, arch);
    int rc = load_bundles(plan, err);

    if (rc == 0)
        rc = add_room(plan, room, err);
    if (rc < 0) {
        plan_free(plan);
        return rc;
    }
    complete(plan, room);
    *out = plan;
    return 0;
}

static void enter(struct plan *plan, int unit)
{
    const char *key = plan->units[unit].key;
    int at = unit; /* so many were taken before it */

    while (at > 0 && strcmp(plan->units[plan->by_key[at - 1]].key, key) > 0) {
        plan->by_key[at] = plan->by_key[at - 1];
        at--;
    }
    plan->by_key[at] = unit;
}

int plan_take(struct plan *plan, int64_t point, struct err *err)
{
    struct chosen chosen = { .point = point };
    int rc;

    assert(plan->taken < plan->n);
    space_values(plan->space, point, plan->values);
    rc = space_warned_by(plan->space, plan->values, &chosen.warned, err);
    if (rc == 0)
        rc = add_unit(plan, &chosen, err);
    if (rc < 0)
        return rc;
    enter(plan, plan->taken - 1);
    return plan->taken - 1;
}

int plan_taken(const struct plan *plan)
{
    return plan->taken;
}

int plan_source_key(struct plan *plan, int64_t point, char out[HASH_HEX],
                    struct err *err)
{
    space_values(plan->space, point, plan->values);
    return kernel_source_key(plan, out, err);
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    bundle_fini(&plan->kernel);
    bundle_fini(&plan->reference);
    buf_fini(&plan->text);
    free(plan->gates);
    free(plan->measure_keys);
    free(plan->by_key);
    free(plan->values);
    free(plan->derived);
    free(plan->units);
    free(plan);
}

void plan_drop_shapes(struct plan *plan)
{
    plan->n_shapes = 0;
}

int plan_units(const struct plan *plan)
{
    return plan->n;
}

int plan_shapes(const struct plan *plan)
{
    return (int)plan->n_shapes;
}

const struct plan_unit *plan_unit(const struct plan *plan, int unit)
{
    return &plan->units[unit];
}

const struct spec_shape *plan_shape(const struct plan *plan, int shape)
{
    return &plan->shapes[shape];
}

const char *plan_shape_name(const struct plan *plan, int shape)
{
    return plan->shapes[shape].name;
}

int plan_gate(const struct plan *plan, int unit, int shape)
{
    return plan->gates
               ? plan->gates[(size_t)unit * plan->n_shapes + (size_t)shape]
               : -1;
}

const char *plan_measure_key(const struct plan *plan, int shape)
{
    return plan->measure_keys[shape];
}

void plan_task_key(const struct plan *plan, int unit, int shape,
                   char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, plan->units[unit].source_key);
    hash_text(&hash, plan->measure_keys[shape]);
    hash_end(&hash, out);
}

void plan_build_key(const struct plan *plan, int unit, const char *toolkit,
                    char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, plan->units[unit].source_key);
    hash_text(&hash, toolkit);
    hash_end(&hash, out);
}

void plan_display(const struct plan *plan, int unit, char *out, size_t size)
{
    struct buf text;

    if (is_reference(plan, unit)) {
        snprintf(out, size, "the reference");
        return;
    }
    buf_init(&text, TEXT_MAX);
    look_at(plan, unit);
    config_text(plan->spec, plan->values, &text);
    snprintf(out, size, "%s", buf_text(&text));
    buf_fini(&text);
}

int plan_find(const struct plan *plan, const char *config_key)
{
    int low = 0, high = plan->taken;

    while (low < high) {
        int middle = low + (high - low) / 2, unit = plan->by_key[middle];
        int order = strcmp(plan->units[unit].key, config_key);

        if (order == 0)
            return unit;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int plan_find_shape(const struct plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_shapes; i++)
        if (strcmp(plan->shapes[i].name, name) == 0)
            return (int)i;
    return -1;
}

char *plan_params(const struct plan *plan, int unit)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    look_at(plan, unit);
    config_json(plan->spec, plan->values, &text);
    return text.bytes;
}

char *plan_warnings(const struct plan *plan, int unit)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "[");
    for (size_t i = 0; i < plan->spec->n_gates; i++)
        if (plan->units[unit].warned >> i & 1)
            buf_printf(&text, "%s\"%s\"", text.len > 1 ? ", " : "",
                       plan->spec->gates[i].name);
    buf_printf(&text, "]");
    return text.bytes;
}

static const struct bundle *bundle_of(const struct plan *plan, int unit)
{
    return is_reference(plan, unit) ? &plan->reference : &plan->kernel;
}

void plan_bundle(struct plan *plan, int unit, struct msg *msg)
{
    const struct bundle *bundle = bundle_of(plan, unit);

    for (size_t i = 0; i < bundle->n; i++) {
        plan->names[i] = bundle->files[i].name;
        plan->contents[i] =
            (struct bytes){ bundle->files[i].bytes, bundle->files[i].len };
    }
    msg->hash = bundle->hash;
    msg->names = (struct texts){ plan->names, bundle->n };
    msg->contents = (struct blobs){ plan->contents, bundle->n };
}

static int recorded_build(struct plan *plan, int unit, struct msg *msg,
                          struct err *err)
{
    struct replay *replay = plan->spec->replay;
    bool reference = is_reference(plan, unit);
    int rc;

    if (!reference)
        look_at(plan, unit);
    rc = replay_record(replay, reference ? NULL : plan->values, &plan->text,
                       err);
    plan->flag = replay_flag(replay);
    msg->bundle = bundle_of(plan, unit)->hash;
    msg->source = REPLAY_FILE;
    msg->header = buf_text(&plan->text);
    msg->entry = REPLAY_ENTRY;
    msg->standard = plan->spec->standard;
    msg->arch = plan->arch;
    msg->flags = (struct texts){ &plan->flag, 1 };
    return rc;
}

int plan_build(struct plan *plan, int unit, struct msg *msg, struct err *err)
{
    const struct spec *spec = plan->spec;
    bool reference = is_reference(plan, unit);
    const struct spec_kernel *kernel =
        reference ? &spec->reference : &spec->kernel;
    int rc = 0;

    if (spec->replay)
        return recorded_build(plan, unit, msg, err);
    buf_clear(&plan->text);
    if (!reference) {
        look_at(plan, unit);
        rc = make_header(plan, err);
    }
    msg->bundle = bundle_of(plan, unit)->hash;
    msg->source = kernel->source;
    msg->header = buf_text(&plan->text);
    msg->entry = kernel->entry;
    msg->standard = spec->standard;
    msg->arch = plan->arch;
    if (!reference)
        msg->flags =
            (struct texts){ (const char *const *)spec->flags, spec->n_flags };
    return rc;
}

static void put_argument(struct buf *to, const struct spec_argument *arg,
                         const struct space_argument *is)
{
    buf_printf(to, "arg %s %s ", arg->name, arg->type);
    if (arg->buffer) {
        buf_printf(to, "buffer %" PRId64 " %s", is->count, arg->fill);
        if (strcmp(arg->fill, "ramp") == 0)
            buf_printf(to, " %" PRId64 " %" PRId64, is->rows, is->columns);
        buf_printf(to, " %.17g %s\n", is->scale, arg->output ? "out" : "in");
    } else if (is->value.kind == VALUE_REAL)
        buf_printf(to, "scalar %.17g\n", is->value.real);
    else
        buf_printf(to, "scalar %" PRId64 "\n", is->value.integer);
}

static void put_triple(struct buf *to, const int64_t v[3])
{
    buf_printf(to, "%" PRId64 " %" PRId64 " %" PRId64, v[0], v[1], v[2]);
}

struct plan_sampling plan_sampling(const struct plan *plan, double incumbent_s)
{
    return (struct plan_sampling){ .least = plan->spec->measure.least,
                                   .most = plan->spec->measure.most,
                                   .incumbent_s = incumbent_s };
}

/* What is launched, and on what. */
static int put_work(struct plan *plan, const struct spec_shape *at,
                    struct buf *to, struct err *err)
{
    const struct spec *spec = plan->spec;
    struct space_launch launch = { { 0 }, { 0 }, 0 }, reference = launch;
    struct space_argument args[SPEC_LIST_MAX] = { { .count = 0 } };
    int rc = space_launch(plan->space, plan->values, at, &launch, err);

    if (rc == 0)
        rc = space_reference_launch(plan->space, at, &reference, err);
    if (rc == 0)
        rc = space_arguments(plan->space, plan->values, at, args, err);
    if (rc < 0)
        return rc;
    buf_printf(to, "measure\nentry %s\ngrid ", spec->kernel.entry);
    put_triple(to, launch.grid);
    buf_printf(to, "\nblock ");
    put_triple(to, launch.block);
    buf_printf(to, "\nsmem %" PRId64 "\n", launch.smem);
    for (size_t i = 0; i < spec->n_arguments; i++)
        put_argument(to, &spec->arguments[i], &args[i]);
    buf_printf(to, "reference %s ", spec->reference.entry);
    put_triple(to, reference.grid);
    buf_printf(to, " ");
    put_triple(to, reference.block);
    buf_printf(to, " %" PRId64 "\n", reference.smem);
    return 0;
}

int plan_measure(struct plan *plan, int unit, int shape,
                 const struct plan_sampling *sampling, struct msg *msg,
                 struct err *err)
{
    const struct spec *spec = plan->spec;
    struct buf *to = &plan->text;
    int rc = 0;

    look_at(plan, unit);
    buf_clear(to);
    if (spec->replay)
        replay_put_launch(to);
    else
        rc = put_work(plan, &plan->shapes[shape], to, err);
    if (rc < 0)
        return rc;
    buf_printf(to,
               "tolerance %.17g %.17g\nseed %" PRId64
               "\nwarmups %d\nsamples %d %d\nnoise %.17g\nmargin %.17g\n"
               "incumbent_s %.17g\nl2 %s\ntimeout_s %.17g\n",
               spec->relative_l2, spec->max_error, spec->measure.seed,
               spec->measure.warmups, sampling->least, sampling->most,
               spec->measure.noise, spec->measure.margin, sampling->incumbent_s,
               spec->measure.l2, spec->measure.timeout_s);
    msg->request = buf_text(to);
    return 0;
}
