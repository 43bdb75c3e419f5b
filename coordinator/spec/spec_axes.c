/* Tunables and the baseline: names and values. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/identifier.h"
#include "coordinator/spec/spec_internal.h"
#include "coordinator/text/suggest.h"

static int read_value(const struct reader *r, const struct json *json,
                      const char *name, struct value *out)
{
    const char *flaw;

    switch (json->kind) {
    case JSON_BOOL:
        *out = (struct value){ .kind = VALUE_BOOL, .integer = json->truth };
        return 0;
    case JSON_NUMBER:
        *out = (struct value){ .kind = json->whole ? VALUE_INT : VALUE_REAL,
                               .real = json->number };
        if (json->whole)
            out->integer = (int64_t)json->number;
        return 0;
    case JSON_TEXT:
        flaw = identifier_value_flaw(json->text);
        if (flaw)
            return spec_read_flaw(r, json->at, flaw,
                                  "value '%.64s' of '%s' is not allowed",
                                  json->text, name);
        *out = (struct value){ .kind = VALUE_TEXT,
                               .text = mem_strdup(json->text) };
        return 0;
    default:
        return spec_read_flaw(
            r, json->at, "a value must be a number, true, false or a text",
            "a value of '%s' is %s", name, json_kind_name(json->kind));
    }
}

/* If some values are reals, whole numbers become reals too. */
static int settle_kind(const struct reader *r, struct spec_axis *axis,
                       const struct json *list)
{
    axis->kind = axis->values[0].kind;
    for (size_t i = 1; i < axis->n; i++) {
        enum value_kind kind = axis->values[i].kind;

        if (kind == axis->kind)
            continue;
        if (kind > VALUE_REAL || axis->kind > VALUE_REAL)
            return spec_read_flaw(r, list->items[i].at,
                                  "all values of a tunable must be of one "
                                  "kind: numbers, true and false, or texts",
                                  "'%s' mixes %s and %s", axis->name,
                                  json_kind_name(list->items[0].kind),
                                  json_kind_name(list->items[i].kind));
        axis->kind = VALUE_REAL;
    }
    for (size_t i = 0; i < axis->n; i++)
        axis->values[i].kind = axis->kind;
    return 0;
}

static int check_distinct(const struct reader *r, const struct spec_axis *axis,
                          const struct json *list)
{
    for (size_t i = 1; i < axis->n; i++)
        for (size_t j = 0; j < i; j++)
            if (value_equal(&axis->values[i], &axis->values[j]))
                return spec_read_flaw(r, list->items[i].at,
                                      "write each value once",
                                      "'%s' has this value twice", axis->name);
    return 0;
}

static int read_axis(struct reader *r, const struct json *list)
{
    struct spec *spec = r->spec;
    struct spec_axis *axis = &spec->space.axes[spec->space.n_axes];
    const char *flaw = identifier_flaw(list->key);

    if (flaw)
        return spec_read_flaw(r, list->key_at, flaw,
                              "the tunable's name '%.64s' is not allowed",
                              list->key);
    if (spec_read_new_name(r, list->key, list->key_at) < 0)
        return ERR_INPUT;
    if (list->kind != JSON_ARRAY)
        return spec_read_flaw(r, list->at, "as in \"BLOCK_M\": [64, 128]",
                              "the values of '%s' are not a list", list->key);
    if (list->n == 0)
        return spec_read_flaw(r, list->at, "as in \"BLOCK_M\": [64, 128]",
                              "tunable '%s' has no values", list->key);
    if (list->n > SPEC_VALUES_MAX)
        return spec_read_flaw(r, list->at, "at most 4,096",
                              "tunable '%s' has %zu values", list->key,
                              list->n);
    *axis =
        (struct spec_axis){ .name = mem_strdup(list->key),
                            .at = list->key_at,
                            .values = mem_new(list->n, sizeof(*axis->values)) };
    spec->space.n_axes++;
    for (; axis->n < list->n; axis->n++)
        if (read_value(r, &list->items[axis->n], axis->name,
                       &axis->values[axis->n]) < 0)
            return ERR_INPUT;
    if (settle_kind(r, axis, list) < 0)
        return ERR_INPUT;
    return check_distinct(r, axis, list);
}

int spec_read_axes(struct reader *r, const struct json *root)
{
    const struct json *axes;

    if (spec_read_member(r, root, "tunables", JSON_OBJECT, true, &axes) < 0)
        return ERR_INPUT;
    if (axes->n == 0 || axes->n > SPEC_AXES_MAX)
        return spec_read_flaw(r, axes->at, "from 1 to 64",
                              "there are %zu tunables", axes->n);
    r->spec->space.axes_at = axes->at;
    r->spec->space.axes = mem_new(axes->n, sizeof(*r->spec->space.axes));
    for (size_t i = 0; i < axes->n; i++)
        if (read_axis(r, &axes->items[i]) < 0)
            return ERR_INPUT;
    return 0;
}

static int check_baseline_keys(const struct reader *r,
                               const struct json *object)
{
    const char *names[SPEC_AXES_MAX];

    for (size_t i = 0; i < r->spec->space.n_axes; i++)
        names[i] = r->spec->space.axes[i].name;
    return spec_read_object(r, object, "the baseline", names,
                            r->spec->space.n_axes);
}

int spec_read_baseline(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *object;

    if (spec_read_member(r, root, "baseline", JSON_OBJECT, true, &object) < 0 ||
        check_baseline_keys(r, object) < 0)
        return ERR_INPUT;
    spec->baseline.at = object->at;
    spec->baseline.values =
        mem_new(spec->space.n_axes, sizeof(*spec->baseline.values));
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        const struct spec_axis *axis = &spec->space.axes[i];
        const struct json *json = json_find(object, axis->name);
        struct value *value = &spec->baseline.values[i];

        if (!json)
            return spec_read_flaw(
                r, object->at, "the baseline must name every tunable",
                "the baseline has no value for '%s'", axis->name);
        if (read_value(r, json, axis->name, value) < 0)
            return ERR_INPUT;
        if (value->kind == VALUE_INT && axis->kind == VALUE_REAL)
            value->kind = VALUE_REAL;
        if (value->kind != axis->kind)
            return spec_read_flaw(
                r, json->at,
                "it may be another value, but must be of the same kind",
                "'%s' has values of another kind in 'tunables'", axis->name);
    }
    return 0;
}
