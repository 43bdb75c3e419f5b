/* The arguments of the kernel. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/spec/identifier.h"
#include "coordinator/spec/spec_internal.h"

static const char *const type_names[] = { "fp16", "bf16",  "fp32", "fp64",
                                          "int8", "int32", "int64" };
static const size_t type_bytes[] = { 2, 2, 4, 8, 1, 4, 8 };

static int read_role(struct reader *r, const struct json *json,
                     struct spec_argument *out, bool *inout)
{
    static const char *const roles[] = { "output", "inout", "workspace" };
    bool is[3] = { false };
    const struct json *role;
    int n = 0;

    for (size_t i = 0; i < 3; i++) {
        if (spec_read_member(r, json, roles[i], JSON_BOOL, false, &role) < 0)
            return ERR_INPUT;
        is[i] = role && role->truth;
        n += is[i];
    }
    if (n > 1)
        return spec_read_flaw(
            r, json->at, "give one of output, inout and workspace",
            "argument '%s' is %d kinds at once", out->name, n);
    *inout = is[1];
    out->output = is[0] || is[1];
    out->workspace = is[2];
    return 0;
}

static int read_buffer(struct reader *r, const struct json *json,
                       struct spec_argument *out)
{
    const struct json *dims;
    bool inout = false;

    if (spec_read_member(r, json, "shape", JSON_ARRAY, true, &dims) < 0 ||
        read_role(r, json, out, &inout) < 0)
        return ERR_INPUT;
    if (dims->n < 1 || dims->n > SPEC_DIMS_MAX)
        return spec_read_flaw(r, dims->at, "from 1 to 8",
                              "argument '%s' has %zu dimensions", out->name,
                              dims->n);
    out->buffer = true;
    for (; out->n_dims < dims->n; out->n_dims++)
        if (spec_read_rule(r, &dims->items[out->n_dims], "a dimension",
                           &out->dims[out->n_dims]) < 0)
            return ERR_INPUT;
    if (!out->output && json_find(json, "tolerance"))
        return spec_read_flaw(r, json->at,
                              "only outputs are compared; remove the tolerance",
                              "'%s' is not an output", out->name);
    if (out->output && spec_read_tolerance_of(r, json, out) < 0)
        return ERR_INPUT;
    if (spec_read_fill(r, json, inout, out) < 0)
        return ERR_INPUT;
    return spec_read_infinities(r, json, out);
}

static int read_scalar(struct reader *r, const struct json *json,
                       struct spec_argument *out)
{
    static const char *const keys[] = { "fill",      "scale",     "output",
                                        "inout",     "workspace", "tolerance",
                                        "infinities" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (json_find(json, keys[i]))
            return spec_read_flaw(r, json_find(json, keys[i])->at,
                                  "only an argument with a shape has it",
                                  "'%s' is a scalar with the key '%s'",
                                  out->name, keys[i]);
    return spec_read_rule(r, json_find(json, "value"),
                          "the value of an argument", &out->value);
}

static int read_argument(struct reader *r, const struct json *json,
                         struct spec_argument *out)
{
    static const char *const keys[] = {
        "name",  "type",      "shape",     "fill",       "scale", "output",
        "inout", "workspace", "tolerance", "infinities", "value", "infinities",
    };
    const struct json *name, *type;

    if (spec_read_object(r, json, "an argument", keys,
                         sizeof(keys) / sizeof(*keys)) < 0 ||
        spec_read_member(r, json, "name", JSON_TEXT, true, &name) < 0 ||
        spec_read_text(r, name, identifier_entry_flaw, "the argument's name",
                       &out->name) < 0 ||
        spec_read_member(r, json, "type", JSON_TEXT, true, &type) < 0 ||
        spec_read_word(r, json, "type", type_names, 7, &out->type) < 0)
        return ERR_INPUT;
    out->at = json->at;
    for (size_t i = 0; i < 7; i++)
        if (type_names[i] == out->type)
            out->type_bytes = type_bytes[i];
    if (!json_find(json, "shape") == !json_find(json, "value"))
        return spec_read_flaw(
            r, json->at, "give a buffer a \"shape\", or a scalar a \"value\"",
            "argument '%s' needs either a shape or a value", out->name);
    return json_find(json, "shape") ? read_buffer(r, json, out)
                                    : read_scalar(r, json, out);
}

int spec_read_arguments(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *list;
    bool output = false;

    if (spec_read_member(r, root, "arguments", JSON_ARRAY, true, &list) < 0)
        return ERR_INPUT;
    if (list->n < 1 || list->n > SPEC_LIST_MAX)
        return spec_read_flaw(r, list->at, "from 1 to 64",
                              "there are %zu arguments", list->n);
    spec->arguments = mem_new(list->n, sizeof(*spec->arguments));
    for (size_t i = 0; i < list->n; i++) {
        spec->n_arguments++;
        if (read_argument(r, &list->items[i], &spec->arguments[i]) < 0)
            return ERR_INPUT;
        for (size_t j = 0; j < i; j++)
            if (strcmp(spec->arguments[j].name, spec->arguments[i].name) == 0)
                return spec_read_flaw(
                    r, list->items[i].at, "choose another name",
                    "there are two arguments '%s'", spec->arguments[i].name);
        output |= spec->arguments[i].output;
    }
    if (!output)
        return spec_read_flaw(r, list->at,
                              "the check compares outputs; mark them with "
                              "\"output\": true",
                              "no argument is an output");
    return 0;
}
