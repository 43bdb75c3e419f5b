/* How far outputs may be from their references. */
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/spec/spec_internal.h"

/* The smallest and the largest that a number may be. */
#define LEAST 1e-300
#define MOST 1e9

static const char *const keys[] = { "relative_l2", "max_error", "absolute",
                                    "ulp", "exact" };

enum {
    KEYS = 5,
    NUMBERS = 4
};

static const struct spec_tolerance none = {
    .relative_l2 = (double)INFINITY,
    .max_error = (double)INFINITY,
    .absolute = (double)INFINITY,
    .ulp = (double)INFINITY,
};

static bool is_integer(const struct spec_argument *argument)
{
    return strncmp(argument->type, "int", 3) == 0;
}

static int no_rule(const struct reader *r, const struct json *object,
                   const struct json *exact)
{
    bool others = false;

    for (size_t i = 0; i < NUMBERS; i++)
        others |= json_find(object, keys[i]) != NULL;
    if (exact && exact->truth && others)
        return spec_read_flaw(r, exact->at,
                              "an exact output needs no other rule; remove one",
                              "'exact' contradicts the other rules");
    if (!others && !(exact && exact->truth))
        return spec_read_flaw(
            r, object->at,
            "give relative_l2, max_error, absolute, ulp or \"exact\": true",
            "'tolerance' has no rule");
    return 0;
}

static int read_rules(struct reader *r, const struct json *object,
                      struct spec_tolerance *out)
{
    double *const numbers[] = { &out->relative_l2, &out->max_error,
                                &out->absolute, &out->ulp };
    const struct json *exact;

    *out = none;
    if (spec_read_object(r, object, "'tolerance'", keys, KEYS) < 0 ||
        spec_read_member(r, object, "exact", JSON_BOOL, false, &exact) < 0 ||
        no_rule(r, object, exact) < 0)
        return ERR_INPUT;
    out->exact = exact && exact->truth;
    for (size_t i = 0; i < NUMBERS; i++)
        if (spec_read_real(r, object, keys[i], LEAST, MOST, numbers[i]) < 0)
            return ERR_INPUT;
    return 0;
}

int spec_read_tolerance_of(struct reader *r, const struct json *json,
                           struct spec_argument *out)
{
    const struct json *object;

    if (spec_read_member(r, json, "tolerance", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object) {
        out->tolerance = none;
        out->tolerance.exact = is_integer(out);
        return 0;
    }
    out->own_tolerance = true;
    if (is_integer(out) && json_find(object, "ulp"))
        return spec_read_flaw(r, json_find(object, "ulp")->at,
                              "use absolute, or exact, the default of integers",
                              "the type of '%s' has no ulp", out->name);
    return read_rules(r, object, &out->tolerance);
}

int spec_read_tolerance(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *object;
    bool needed = false;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        needed |= argument->output && !argument->own_tolerance &&
                  !argument->tolerance.exact;
    }
    if (spec_read_member(r, root, "tolerance", JSON_OBJECT, needed, &object) <
            0 ||
        (object && read_rules(r, object, &spec->tolerance) < 0))
        return ERR_INPUT;
    for (size_t i = 0; i < spec->n_arguments && object; i++)
        if (spec->arguments[i].output && !spec->arguments[i].own_tolerance &&
            !spec->arguments[i].tolerance.exact)
            spec->arguments[i].tolerance = spec->tolerance;
    return 0;
}
