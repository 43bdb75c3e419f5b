/* Derived values, gates, launch geometry, metrics and floors: SQL as text. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/identifier.h"
#include "coordinator/spec/spec_internal.h"

#define NO_WHY "the sweep file does not say why (\"why\": \"...\")"

static int check_count(const struct reader *r, const struct json *list,
                       const char *what)
{
    if (list->n > SPEC_LIST_MAX)
        return spec_read_flaw(r, list->at, "at most 64", "there are %zu %s",
                              list->n, what);
    return 0;
}

static int read_derived(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *object;

    if (spec_read_member(r, root, "derived", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object)
        return 0;
    if (check_count(r, object, "derived values") < 0)
        return ERR_INPUT;
    spec->space.derived = mem_new(object->n + 1, sizeof(*spec->space.derived));
    for (size_t i = 0; i < object->n; i++) {
        const struct json *json = &object->items[i];
        struct spec_named *named = &spec->space.derived[i];
        const char *flaw = identifier_flaw(json->key);

        if (flaw)
            return spec_read_flaw(
                r, json->key_at, flaw,
                "the derived value's name '%.64s' is not allowed", json->key);
        if (spec_read_new_name(r, json->key, json->key_at) < 0)
            return ERR_INPUT;
        named->name = mem_strdup(json->key);
        named->at = json->key_at;
        spec->space.n_derived++;
        if (spec_read_rule(r, json, "a derived value", &named->rule) < 0)
            return ERR_INPUT;
    }
    return 0;
}

static int check_gate_name(const struct reader *r, const struct json *name)
{
    for (size_t i = 0; i + 1 < r->spec->space.n_gates; i++)
        if (strcmp(r->spec->space.gates[i].name, name->text) == 0)
            return spec_read_flaw(r, name->at, "give each gate its own name",
                                  "there are two gates '%s'", name->text);
    return 0;
}

static int read_gate(struct reader *r, const struct json *json)
{
    static const char *const keys[] = { "name", "reject", "warn", "why" };
    struct spec_gate *gate = &r->spec->space.gates[r->spec->space.n_gates];
    const struct json *name, *reject, *warn, *why;

    if (spec_read_object(r, json, "a gate", keys, 4) < 0 ||
        spec_read_member(r, json, "name", JSON_TEXT, true, &name) < 0 ||
        spec_read_member(r, json, "why", JSON_TEXT, false, &why) < 0)
        return ERR_INPUT;
    reject = json_find(json, "reject");
    warn = json_find(json, "warn");
    if (!reject == !warn)
        return spec_read_flaw(r, json->at,
                              "give a gate either \"reject\", which removes "
                              "configurations, or \"warn\", which counts them",
                              "gate '%.64s' has %s", name->text,
                              reject ? "both 'reject' and 'warn'"
                                     : "neither 'reject' nor 'warn'");
    r->spec->space.n_gates++;
    gate->at = json->at;
    gate->warns = warn != NULL;
    gate->why = mem_strdup(why && *why->text ? why->text : NO_WHY);
    if (spec_read_text(r, name, identifier_label_flaw, "the gate's name",
                       &gate->name) < 0)
        return ERR_INPUT;
    if (check_gate_name(r, name) < 0)
        return ERR_INPUT;
    return spec_read_rule(r, warn ? warn : reject, "the rule of a gate",
                          &gate->rule);
}

static int read_gates(struct reader *r, const struct json *root)
{
    const struct json *list;

    if (spec_read_member(r, root, "gates", JSON_ARRAY, false, &list) < 0)
        return ERR_INPUT;
    if (!list)
        return 0;
    if (check_count(r, list, "gates") < 0)
        return ERR_INPUT;
    r->spec->space.gates = mem_new(list->n + 1, sizeof(*r->spec->space.gates));
    for (size_t i = 0; i < list->n; i++)
        if (read_gate(r, &list->items[i]) < 0)
            return ERR_INPUT;
    return 0;
}

static int read_extent(const struct reader *r, const struct json *launch,
                       const char *key, struct spec_rule out[3])
{
    const struct json *list;

    if (spec_read_member(r, launch, key, JSON_ARRAY, true, &list) < 0)
        return ERR_INPUT;
    if (list->n < 1 || list->n > 3)
        return spec_read_flaw(r, list->at, "write one for each of x, y and z",
                              "'%s' has %zu expressions, not 1 to 3", key,
                              list->n);
    for (size_t i = 0; i < 3; i++) {
        if (i >= list->n)
            out[i] = (struct spec_rule){ mem_strdup("1"), list->at };
        else if (spec_read_rule(r, &list->items[i], key, &out[i]) < 0)
            return ERR_INPUT;
    }
    return 0;
}

int spec_read_launch(struct reader *r, const struct json *object,
                     struct spec_launch *out)
{
    static const char *const keys[] = { "grid", "block", "smem" };
    const struct json *launch, *smem;

    if (spec_read_member(r, object, "launch", JSON_OBJECT, true, &launch) < 0 ||
        spec_read_object(r, launch, "'launch'", keys, 3) < 0 ||
        read_extent(r, launch, "grid", out->grid) < 0 ||
        read_extent(r, launch, "block", out->block) < 0)
        return ERR_INPUT;
    smem = json_find(launch, "smem");
    if (smem)
        return spec_read_rule(r, smem, "'smem'", &out->smem);
    out->smem = (struct spec_rule){ mem_strdup("0"), launch->at };
    return 0;
}

static int read_metric(struct reader *r, const struct json *json,
                       struct spec_named *out)
{
    static const char *const keys[] = { "value", "unit" };
    const struct json *value, *unit;

    if (spec_read_object(r, json, "a metric", keys, 2) < 0 ||
        spec_read_member(r, json, "value", JSON_TEXT, true, &value) < 0 ||
        spec_read_member(r, json, "unit", JSON_TEXT, false, &unit) < 0)
        return ERR_INPUT;
    out->unit = mem_strdup(unit ? unit->text : "");
    return spec_read_rule(r, value, "the value of a metric", &out->rule);
}

static int read_named(struct reader *r, const struct json *root,
                      const char *key, struct spec_named **list, size_t *n)
{
    const struct json *object;
    bool metrics = strcmp(key, "metrics") == 0;

    if (spec_read_member(r, root, key, JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object)
        return 0;
    if (check_count(r, object, key) < 0)
        return ERR_INPUT;
    *list = mem_new(object->n + 1, sizeof(**list));
    for (size_t i = 0; i < object->n; i++) {
        const struct json *json = &object->items[i];
        struct spec_named *named = &(*list)[i];
        const char *flaw = identifier_label_flaw(json->key);

        if (flaw)
            return spec_read_flaw(r, json->key_at, flaw,
                                  "the name '%.64s' in '%s' is not allowed",
                                  json->key, key);
        named->name = mem_strdup(json->key);
        named->at = json->key_at;
        ++*n;
        if (metrics ? read_metric(r, json, named) < 0
                    : spec_read_rule(r, json, "a floor", &named->rule) < 0)
            return ERR_INPUT;
    }
    return 0;
}

int spec_read_rules(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;

    if (read_derived(r, root) < 0 || read_gates(r, root) < 0 ||
        read_named(r, root, "metrics", &spec->figures.metrics,
                   &spec->figures.n_metrics) < 0)
        return ERR_INPUT;
    return read_named(r, root, "floors", &spec->figures.floors,
                      &spec->figures.n_floors);
}
