#include "coordinator/plan/plan_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"

#define TEXT_MAX (1 << 20) /* of a header, a request or a configuration */

bool plan_is_reference(const struct plan *plan, int unit)
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
    assert(at->values); /* it is outside the axes */
    memcpy(values, at->values, plan->spec->space.n_axes * sizeof(*values));
}

void plan_look_at(const struct plan *plan, int unit)
{
    plan_values(plan, unit, plan->values);
}

static int add_unit(struct plan *plan, const struct chosen *chosen,
                    struct err *err)
{
    struct plan_unit *unit;

    /* One more than the configurations: the reference is behind the last. */
    if (plan->taken + 1 >= plan->cap) {
        plan->cap = plan->cap ? plan->cap * 2 : 64;
        plan->units =
            mem_grow(plan->units, (size_t)plan->cap, sizeof(*plan->units));
    }
    unit = &plan->units[plan->taken];
    *unit = (struct plan_unit){ .point = chosen->point,
                                .warned = chosen->warned,
                                .values = chosen->values };
    plan_look_at(plan, plan->taken++);
    config_key(plan->spec, plan->values, unit->key);
    unit->baseline = plan->spec->baseline.values &&
                     strcmp(unit->key, plan->baseline_key) == 0;
    return plan_kernel_key(plan, unit->source_key, err);
}

/* The baseline is measured even if a warn gate hits it.  If a gate rejects it,
 * nothing can be compared: that is an error. */
static int add_baseline(struct plan *plan, int64_t *point, struct err *err)
{
    const struct spec *spec = plan->spec;
    int gate;

    *point = -1;
    if (!spec->baseline.values)
        return 0;
    gate = space_rejected_by(plan->space, spec->baseline.values, err);
    if (gate == SPACE_ERROR)
        return ERR_INPUT;
    if (gate != SPACE_PASSES)
        return spec_err(spec, spec->baseline.at, err,
                        "every configuration is compared with the baseline, so "
                        "the baseline must run",
                        "gate '%s' rejects the baseline",
                        spec->space.gates[gate].name);
    *point = space_number(plan->space, spec->baseline.values);
    return add_unit(
        plan,
        &(struct chosen){ .point = *point,
                          .values = *point < 0 ? spec->baseline.values : NULL },
        err);
}

/* Configurations that a gate warns of come last, and so do their builds. */
static int add_survivors(struct plan *plan, int64_t baseline, struct err *err)
{
    struct chosen *late = NULL;
    size_t late_n = 0, late_cap = 0;
    struct space_point point;
    int rc, survivors = 0;

    while ((rc = space_next(plan->space, &point, err)) == 1) {
        struct chosen chosen = { .point = point.number,
                                 .warned = point.warned };

        survivors++;
        if (point.number == baseline && plan->taken > 0) {
            plan->units[0].warned = point.warned;
            continue;
        }
        if (point.warned) {
            if (late_n == late_cap) {
                late_cap = late_cap ? 2 * late_cap : 256;
                late = mem_grow(late, late_cap, sizeof(*late));
            }
            late[late_n++] = chosen;
            continue;
        }
        rc = add_unit(plan, &chosen, err);
        if (rc < 0)
            break;
    }
    for (size_t i = 0; rc == 0 && i < late_n; i++)
        rc = add_unit(plan, &late[i], err);
    free(late);
    if (rc == 0 && survivors == 0)
        return err_set(err, ERR_INPUT,
                       "no configuration passes the gates; `fa-coord space` "
                       "shows what each gate rejects");
    return rc;
}

static int add_all(struct plan *plan, struct err *err)
{
    int64_t baseline;
    int rc = add_baseline(plan, &baseline, err);

    return rc == 0 ? add_survivors(plan, baseline, err) : rc;
}

/* The gates that reject a selected unit, shape by shape. */
static int find_gates(struct plan *plan, int unit, struct err *err)
{
    plan_look_at(plan, unit);
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
    int rc = config_selection_resolve(plan->ask->choice, plan->spec,
                                      plan->space, &chosen, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_unit(plan, &chosen[i], err);
    free(chosen);
    plan->gates = mem_new((size_t)plan->taken * plan->n_shapes + 1, 1);
    for (int unit = 0; rc == 0 && unit < plan->taken; unit++)
        rc = find_gates(plan, unit, err);
    return rc;
}

/* Memory for units that are never taken is not touched, so it costs nothing. */
static int add_room(struct plan *plan, int room, struct err *err)
{
    int64_t baseline;

    plan->cap = room + 2;
    plan->units = mem_new((size_t)plan->cap, sizeof(*plan->units));
    return add_baseline(plan, &baseline, err);
}

/* The slot that holds the key, or the empty slot where it belongs. */
static int *slot_of(const struct plan *plan, const char *key)
{
    uint64_t hash = 0;
    size_t at;

    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15);
    at = (size_t)(hash >> 32) & (plan->index.n - 1);
    while (plan->index.slots[at] &&
           strcmp(plan->units[plan->index.slots[at] - 1].key, key) != 0)
        at = (at + 1) & (plan->index.n - 1);
    return &plan->index.slots[at];
}

static void enter(struct plan *plan, int unit)
{
    int *slot = slot_of(plan, plan->units[unit].key);

    if (!*slot)
        *slot = unit + 1;
}

static void make_index(struct plan *plan)
{
    plan->index.n = 64;
    while (plan->index.n < 2 * (size_t)plan->n)
        plan->index.n *= 2;
    plan->index.slots = mem_new(plan->index.n, sizeof(*plan->index.slots));
    for (int i = 0; i < plan->taken; i++)
        enter(plan, i);
}

static struct plan *plan_new(const struct spec *spec, struct space *space,
                             const char *device, const char *arch)
{
    struct plan *plan = mem_new(1, sizeof(*plan));

    plan->spec = spec;
    plan->space = space;
    plan->emulated = device_kind_is(device, DEVICE_KIND_CPU);
    snprintf(plan->arch, sizeof(plan->arch), "%s", arch);
    plan->values = mem_new(spec->space.n_axes, sizeof(*plan->values));
    plan->derived = mem_new(spec->space.n_derived, sizeof(*plan->derived));
    plan->shapes = space_shapes(space, &plan->n_shapes);
    if (spec->baseline.values)
        config_key(spec, spec->baseline.values, plan->baseline_key);
    buf_init(&plan->message.text, TEXT_MAX);
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

/* Files of a wrong size are found before anything is built. */
static int check_inputs(struct plan *plan, struct err *err)
{
    struct space_argument arguments[SPEC_LIST_MAX];
    int rc = 0;

    if (plan->spec->inputs.n == 0 || plan->taken == 0)
        return 0;
    plan_look_at(plan, 0);
    for (size_t s = 0; rc == 0 && s < plan->n_shapes; s++)
        if (plan_gate(plan, 0, (int)s) < 0)
            rc = space_arguments(plan->space, plan->values, &plan->shapes[s],
                                 arguments, err);
    return rc;
}

/* All units exist now: compute what depends on all of them. */
static void complete(struct plan *plan, int units)
{
    plan->n = units;
    plan->units[plan->n] = (struct plan_unit){ .point = -1 };
    plan_reference_key(plan, plan->units[plan->n].source_key);
    plan->measure_keys = mem_new(plan->n_shapes, HASH_HEX);
    for (size_t i = 0; i < plan->n_shapes; i++)
        plan_shape_key(plan, &plan->shapes[i], plan->measure_keys[i]);
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
    if (rc == 0)
        rc = check_inputs(plan, err);
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
    if (rc == 0)
        rc = check_inputs(plan, err);
    if (rc < 0) {
        plan_free(plan);
        return rc;
    }
    complete(plan, room);
    *out = plan;
    return 0;
}

int plan_take(struct plan *plan, int64_t point, struct err *err)
{
    struct chosen chosen = { .point = point };
    int rc;

    assert(plan->taken < plan->n);
    rc = space_warned_at(plan->space, point, &chosen.warned, err);
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

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    bundle_fini(&plan->kernel);
    bundle_fini(&plan->reference);
    buf_fini(&plan->message.text);
    free(plan->gates);
    free(plan->measure_keys);
    free(plan->index.slots);
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

void plan_display(const struct plan *plan, int unit, char *out, size_t size)
{
    struct buf text;

    if (plan_is_reference(plan, unit)) {
        snprintf(out, size, "the reference");
        return;
    }
    buf_init(&text, TEXT_MAX);
    plan_look_at(plan, unit);
    config_text(plan->spec, plan->values, &text);
    snprintf(out, size, "%s", buf_text(&text));
    buf_fini(&text);
}

int plan_find(const struct plan *plan, const char *config_key)
{
    return *slot_of(plan, config_key) - 1;
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
    plan_look_at(plan, unit);
    config_json(plan->spec, plan->values, &text);
    return text.bytes;
}

char *plan_warnings(const struct plan *plan, int unit)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "[");
    for (size_t i = 0; i < plan->spec->space.n_gates; i++)
        if (plan->units[unit].warned >> i & 1)
            buf_printf(&text, "%s\"%s\"", text.len > 1 ? ", " : "",
                       plan->spec->space.gates[i].name);
    buf_printf(&text, "]");
    return text.bytes;
}
