/* What a buffer holds before a launch. */
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/spec/spec_internal.h"

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

/* { "range": [LOW, HIGH] } or { "sorted": LAST } */
static int read_integers(struct reader *r, const struct json *json,
                         const struct json *fill, struct spec_argument *out)
{
    static const char *const keys[] = { "range", "sorted" };
    const struct json *range = json_find(fill, "range");
    const struct json *sorted = json_find(fill, "sorted");

    out->scale = 1;
    if (spec_read_object(r, fill, "a fill", keys, 2) < 0)
        return ERR_INPUT;
    if (fill->n != 1 || (range && (range->kind != JSON_ARRAY || range->n != 2)))
        return spec_read_flaw(r, fill->at,
                              "write { \"range\": [LOW, HIGH] } or "
                              "{ \"sorted\": LAST }",
                              "the fill of '%s' is not one of these",
                              out->name);
    out->fill = range ? "range" : "sorted";
    if (no_scale(r, json, out) < 0)
        return ERR_INPUT;
    if (sorted)
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

int spec_read_fill(struct reader *r, const struct json *json, bool inout,
                   struct spec_argument *out)
{
    const struct json *fill = json_find(json, "fill");
    int rc;

    if (out->workspace || (out->output && !inout && !fill))
        return read_poison(r, json, out);
    if (fill && fill->kind == JSON_NUMBER)
        rc = read_value(r, json, fill, out);
    else if (fill && fill->kind == JSON_OBJECT)
        rc = read_integers(r, json, fill, out);
    else
        rc = read_named(r, json, out);
    if (rc == 0 && out->output && !inout)
        rc = check_output(r, fill, out);
    return rc;
}
