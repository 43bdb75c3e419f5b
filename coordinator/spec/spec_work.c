/* The arguments of the kernel, and what buffers hold before a launch. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/identifier.h"
#include "coordinator/source/type_name.h"
#include "coordinator/spec/spec_internal.h"

static const char *const type_names[] = { "fp16", "bf16",  "fp32", "fp64",
                                          "int8", "int32", "int64" };
static const size_t type_bytes[] = { 2, 2, 4, 8, 1, 4, 8 };

static const char *const fill_names[] = { "normal",     "uniform", "zeros",
                                          "ones",       "iota",    "ramp",
                                          "permutation" };

/* The largest number of each type; whole ones up to it are not all exact. */
static const struct {
    const char *type;
    double least, most;
    bool whole;
} ranges[] = {
    { "fp16", -65504, 65504, false },
    { "bf16", -0x1.fep127, 0x1.fep127, false },
    { "fp32", -0x1.fffffep127, 0x1.fffffep127, false },
    { "fp64", -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, false },
    { "int8", INT8_MIN, INT8_MAX, true },
    { "int32", INT32_MIN, INT32_MAX, true },
    { "int64", -0x1p53, 0x1p53, true },
};

/* A number or SQL over the variables of a shape. */
static int read_scale(struct reader *r, const struct json *json,
                      struct spec_argument *out)
{
    const struct json *scale = json_find(json, "scale");

    out->scale = 1;
    if (scale && scale->kind == JSON_TEXT)
        return spec_read_rule(r, scale, "the scale of an argument",
                              &out->scale_rule);
    return spec_read_real(r, json, "scale", -SPEC_SCALE_MAX, SPEC_SCALE_MAX,
                          &out->scale);
}

/* Each element is this number. */
static int read_value(struct reader *r, const struct json *json,
                      const struct json *fill, struct spec_argument *out)
{
    size_t i = 0;

    if (json_find(json, "scale"))
        return spec_read_flaw(
            r, json_find(json, "scale")->at, "write the product as the fill",
            "'%s' is filled with a number and has a scale", out->name);
    while (strcmp(ranges[i].type, out->type) != 0)
        i++;
    if (!(fill->number >= ranges[i].least && fill->number <= ranges[i].most) ||
        (ranges[i].whole && fill->number != floor(fill->number)))
        return spec_read_flaw(r, fill->at,
                              ranges[i].whole
                                  ? "it must be a whole number of its type"
                                  : "it is beyond the largest of its type",
                              "%s '%s' cannot be filled with %.17g", out->type,
                              out->name, fill->number);
    out->fill = "ones";
    out->scale = fill->number;
    return 0;
}

/* Of the fills that make integers. */
static int no_scale(const struct reader *r, const struct json *json,
                    const struct spec_argument *out)
{
    const struct json *scale = json_find(json, "scale");

    if (strncmp(out->type, "int", 3) != 0)
        return spec_read_flaw(
            r, json_find(json, "fill")->at, "it is for int8, int32 and int64",
            "the %s '%s' is filled by %s", out->type, out->name, out->fill);
    if (scale)
        return spec_read_flaw(r, scale->at, "remove the scale",
                              "the fill %s of '%s' has a scale", out->fill,
                              out->name);
    return 0;
}

static int read_named(struct reader *r, const struct json *json,
                      struct spec_argument *out)
{
    const struct json *dims = json_find(json, "shape");

    out->fill = "normal";
    if (spec_read_word(r, json, "fill", fill_names,
                       sizeof(fill_names) / sizeof(*fill_names),
                       &out->fill) < 0 ||
        read_scale(r, json, out) < 0)
        return ERR_INPUT;
    if (strcmp(out->fill, "ramp") == 0 && dims->n < 2)
        return spec_read_flaw(
            r, dims->at,
            "a ramp grows along the last but one dimension, so it needs two",
            "the ramp '%s' has one dimension", out->name);
    return strcmp(out->fill, "permutation") == 0 ? no_scale(r, json, out) : 0;
}

/* Of a pattern any shape's name would do. */
static const char *file_flaw(const char *pattern)
{
    const char *hole = strstr(pattern, SPEC_INPUTS_SHAPE);
    const char *flaw;
    char *name;

    if (!hole)
        return identifier_input_flaw(pattern);
    name = mem_printf("%.*sx%s", (int)(hole - pattern), pattern,
                      hole + strlen(SPEC_INPUTS_SHAPE));
    flaw = identifier_input_flaw(name);
    free(name);
    return flaw;
}

/* { "file": NAME } */
static int read_file(struct reader *r, const struct json *json,
                     const struct json *name, struct spec_argument *out)
{
    const struct json *scale = json_find(json, "scale");

    out->fill = "file";
    out->scale = 1;
    out->file_at = name->at;
    if (scale)
        return spec_read_flaw(r, scale->at, "scale the values in the file",
                              "'%s' is filled from a file and has a scale",
                              out->name);
    return spec_read_text(r, name, file_flaw, "the file of an argument",
                          &out->file);
}

/* { "range": [LOW, HIGH] }, { "sorted": LAST } or { "file": NAME } */
static int read_parametric(struct reader *r, const struct json *json,
                           const struct json *fill, struct spec_argument *out)
{
    static const char *const keys[] = { "range", "sorted", "file" };
    const struct json *file = json_find(fill, "file");
    const struct json *range = json_find(fill, "range");
    const struct json *sorted = json_find(fill, "sorted");

    out->scale = 1;
    if (spec_read_object(r, fill, "a fill", keys, 3) < 0)
        return ERR_INPUT;
    if (fill->n != 1 || (range && (range->kind != JSON_ARRAY || range->n != 2)))
        return spec_read_flaw(r, fill->at,
                              "write { \"range\": [LOW, HIGH] }, "
                              "{ \"sorted\": LAST } or { \"file\": NAME }",
                              "the fill of '%s' is not one of these",
                              out->name);
    if (file)
        return read_file(r, json, file, out);
    out->fill = range ? "range" : "sorted";
    if (no_scale(r, json, out) < 0)
        return ERR_INPUT;
    if (!range)
        return spec_read_rule(r, sorted, "the last element", &out->bounds[0]);
    if (spec_read_rule(r, &range->items[0], "a bound", &out->bounds[0]) < 0)
        return ERR_INPUT;
    return spec_read_rule(r, &range->items[1], "a bound", &out->bounds[1]);
}

/* What is not read before it is written has no fill. */
static int read_poison(const struct reader *r, const struct json *json,
                       struct spec_argument *out)
{
    out->fill = "poison";
    out->scale = 1;
    if (json_find(json, "fill") || json_find(json, "scale"))
        return spec_read_flaw(r, json->at,
                              out->workspace
                                  ? "a workspace holds NaN before every "
                                    "launch; a fill needs \"inout\": true"
                                  : "a scale needs a fill",
                              "'%s' has a %s", out->name,
                              json_find(json, "fill") ? "fill" : "scale");
    return 0;
}

/* An output that only adds to what it starts as: zeros, ones or a number. */
static int check_output(const struct reader *r, const struct json *fill,
                        const struct spec_argument *out)
{
    if (strcmp(out->fill, "zeros") == 0 || strcmp(out->fill, "ones") == 0)
        return 0;
    return spec_read_flaw(r, fill->at,
                          "an output starts as \"zeros\", \"ones\" or a "
                          "number; an argument with \"inout\": true as any "
                          "fill",
                          "the output '%s' starts as %s", out->name, out->fill);
}

static int read_fill(struct reader *r, const struct json *json, bool inout,
                     struct spec_argument *out)
{
    const struct json *fill = json_find(json, "fill");
    int rc;

    if (out->workspace || (out->output && !inout && !fill))
        return read_poison(r, json, out);
    if (fill && fill->kind == JSON_NUMBER)
        rc = read_value(r, json, fill, out);
    else if (fill && fill->kind == JSON_OBJECT)
        rc = read_parametric(r, json, fill, out);
    else
        rc = read_named(r, json, out);
    if (rc == 0 && fill && out->output && !inout)
        rc = check_output(r, fill, out);
    return rc;
}

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
    if (read_fill(r, json, inout, out) < 0)
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

/* Is a type named as in C, CUDA or NumPy? */
static int name_of_elsewhere(const struct reader *r, const struct json *type)
{
    const struct type_name *found =
        type_name_find(type->text, TYPE_NAME_C | TYPE_NAME_NUMPY);
    char why[40];

    if (!found || found->elements > 1)
        return 0;
    snprintf(why, sizeof(why), "write \"%s\"", found->type);
    return spec_read_flaw(r, type->at, why, "type '%s' is unknown", type->text);
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
        name_of_elsewhere(r, type) < 0 ||
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
