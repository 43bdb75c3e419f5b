/* Shapes and arguments: what the kernel works on. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/name.h"
#include "coordinator/spec_read.h"

/* The variables are those of the first shape. */
static int read_vars(struct reader *r, const struct json *shape)
{
    struct spec *spec = r->spec;

    if (shape->n > SPEC_VARS_MAX + 1)
        return read_flaw(r, shape->at, "at most 32",
                         "this shape has %zu variables", shape->n - 1);
    spec->vars = mem_new(shape->n + 1, sizeof(*spec->vars));
    for (size_t i = 0; i < shape->n; i++) {
        const struct json *json = &shape->items[i];
        const char *flaw = name_flaw(json->key);

        if (strcmp(json->key, "name") == 0)
            continue;
        if (flaw)
            return read_flaw(r, json->key_at, flaw,
                             "the variable's name '%.64s' is not allowed",
                             json->key);
        if (read_new_name(r, json->key, json->key_at) < 0)
            return ERR_INPUT;
        spec->vars[spec->n_vars++] = mem_strdup(json->key);
    }
    return 0;
}

static int check_vars(const struct reader *r, const struct json *json)
{
    const char *keys[SPEC_VARS_MAX + 1];
    size_t n = 0;

    keys[n++] = "name";
    for (size_t i = 0; i < r->spec->n_vars; i++)
        keys[n++] = r->spec->vars[i];
    return read_object(r, json, "a shape", keys, n);
}

static int read_shape(struct reader *r, const struct json *json,
                      struct spec_shape *out)
{
    const struct json *name, *var;

    if (check_vars(r, json) < 0 ||
        read_member(r, json, "name", JSON_TEXT, true, &name) < 0 ||
        read_text(r, name, name_label_flaw, "the shape's name", &out->name) < 0)
        return ERR_INPUT;
    out->at = json->at;
    out->vars = mem_new(r->spec->n_vars + 1, sizeof(*out->vars));
    for (size_t i = 0; i < r->spec->n_vars; i++) {
        const char *key = r->spec->vars[i];

        if (read_member(r, json, key, JSON_NUMBER, true, &var) < 0)
            return ERR_INPUT;
        if (!var->whole)
            return read_flaw(r, var->at, "variables of a shape are integers",
                             "'%s' is not a whole number", key);
        out->vars[i] = (int64_t)var->number;
    }
    return 0;
}

static int check_shape_name(const struct reader *r,
                            const struct spec_shape *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, list[n].name) == 0)
            return read_flaw(r, list[n].at, "results are kept by its name",
                             "there is a shape '%s' already", list[n].name);
    return 0;
}

static int read_shape_list(struct reader *r, const struct json *list,
                           struct spec_shape **out, size_t *n)
{
    if (list->n < 1 || list->n > SPEC_SHAPES_MAX)
        return read_flaw(r, list->at, "from 1 to 256", "there are %zu shapes",
                         list->n);
    *out = mem_new(list->n, sizeof(**out));
    for (size_t i = 0; i < list->n; i++) {
        ++*n;
        if (read_shape(r, &list->items[i], &(*out)[i]) < 0 ||
            check_shape_name(r, *out, i) < 0)
            return ERR_INPUT;
    }
    return 0;
}

int read_shapes(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *list, *small;

    if (read_member(r, root, "shapes", JSON_ARRAY, true, &list) < 0 ||
        read_member(r, root, "emulation_shapes", JSON_ARRAY, false, &small) < 0)
        return ERR_INPUT;
    if (list->n && list->items[0].kind == JSON_OBJECT &&
        read_vars(r, &list->items[0]) < 0)
        return ERR_INPUT;
    if (read_shape_list(r, list, &spec->shapes, &spec->n_shapes) < 0)
        return ERR_INPUT;
    return small ? read_shape_list(r, small, &spec->emulation_shapes,
                                   &spec->n_emulation_shapes)
                 : 0;
}

/* ---- arguments */

static const char *const type_names[] = { "fp16", "bf16",  "fp32", "fp64",
                                          "int8", "int32", "int64" };
static const size_t type_bytes[] = { 2, 2, 4, 8, 1, 4, 8 };
static const char *const fill_names[] = { "normal", "uniform", "zeros", "ones",
                                          "iota" };

static int read_buffer(struct reader *r, const struct json *json,
                       struct spec_argument *out)
{
    const struct json *dims, *output;

    if (read_member(r, json, "shape", JSON_ARRAY, true, &dims) < 0 ||
        read_member(r, json, "output", JSON_BOOL, false, &output) < 0)
        return ERR_INPUT;
    if (dims->n < 1 || dims->n > SPEC_DIMS_MAX)
        return read_flaw(r, dims->at, "from 1 to 8",
                         "argument '%s' has %zu dimensions", out->name,
                         dims->n);
    out->buffer = true;
    out->output = output && output->truth;
    out->fill = "normal";
    out->scale = 1;
    if (out->output && (json_find(json, "fill") || json_find(json, "scale")))
        return read_flaw(r, json->at,
                         "outputs are filled with NaN before every launch",
                         "the output '%s' has a fill", out->name);
    for (; out->n_dims < dims->n; out->n_dims++)
        if (read_rule(r, &dims->items[out->n_dims], "a dimension",
                      &out->dims[out->n_dims]) < 0)
            return ERR_INPUT;
    if (read_real(r, json, "scale", -1e30, 1e30, &out->scale) < 0)
        return ERR_INPUT;
    return read_word(r, json, "fill", fill_names, 5, &out->fill);
}

static int read_scalar(struct reader *r, const struct json *json,
                       struct spec_argument *out)
{
    if (json_find(json, "fill") || json_find(json, "scale") ||
        json_find(json, "output"))
        return read_flaw(r, json->at,
                         "fill, scale and output belong to arguments with a "
                         "shape",
                         "'%s' is a scalar", out->name);
    return read_rule(r, json_find(json, "value"), "the value of an argument",
                     &out->value);
}

static int read_argument(struct reader *r, const struct json *json,
                         struct spec_argument *out)
{
    static const char *const keys[] = { "name",  "type",   "shape", "fill",
                                        "scale", "output", "value" };
    const struct json *name, *type;

    if (read_object(r, json, "an argument", keys, 7) < 0 ||
        read_member(r, json, "name", JSON_TEXT, true, &name) < 0 ||
        read_text(r, name, name_entry_flaw, "the argument's name", &out->name) <
            0 ||
        read_member(r, json, "type", JSON_TEXT, true, &type) < 0 ||
        read_word(r, json, "type", type_names, 7, &out->type) < 0)
        return ERR_INPUT;
    out->at = json->at;
    for (size_t i = 0; i < 7; i++)
        if (type_names[i] == out->type)
            out->type_bytes = type_bytes[i];
    if (!json_find(json, "shape") == !json_find(json, "value"))
        return read_flaw(r, json->at,
                         "a buffer has a \"shape\", a scalar has a \"value\"",
                         "argument '%s' is not one of both", out->name);
    return json_find(json, "shape") ? read_buffer(r, json, out)
                                    : read_scalar(r, json, out);
}

int read_arguments(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *list;
    bool output = false;

    if (read_member(r, root, "arguments", JSON_ARRAY, true, &list) < 0)
        return ERR_INPUT;
    if (list->n < 1 || list->n > SPEC_LIST_MAX)
        return read_flaw(r, list->at, "from 1 to 64", "there are %zu arguments",
                         list->n);
    spec->arguments = mem_new(list->n, sizeof(*spec->arguments));
    for (size_t i = 0; i < list->n; i++) {
        spec->n_arguments++;
        if (read_argument(r, &list->items[i], &spec->arguments[i]) < 0)
            return ERR_INPUT;
        for (size_t j = 0; j < i; j++)
            if (strcmp(spec->arguments[j].name, spec->arguments[i].name) == 0)
                return read_flaw(r, list->items[i].at, "choose another name",
                                 "there is an argument '%s' already",
                                 spec->arguments[i].name);
        output |= spec->arguments[i].output;
    }
    if (!output)
        return read_flaw(r, list->at,
                         "the check compares outputs; mark them with "
                         "\"output\": true",
                         "no argument is an output");
    return 0;
}
