#include "coordinator/plan/plan_weak.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"

struct weak {
    const struct spec *spec;
    struct space *space;
    void (*say)(void *arg, const char *text);
    void *arg;
    size_t shapes; /* seen so far */
    struct space_argument first[SPEC_LIST_MAX];
    bool differs[SPEC_LIST_MAX]; /* a scalar, from shape to shape */
    int64_t most[SPEC_LIST_MAX]; /* elements of a buffer */
};

static void say(const struct weak *weak, char *text)
{
    weak->say(weak->arg, text);
    free(text);
}

/* A value for each number of a shape; the baseline's. */
static int see_shape(struct weak *weak, const struct spec_shape *shape,
                     struct err *err)
{
    const struct value *values = weak->spec->baseline.values;
    struct space_argument arguments[SPEC_LIST_MAX];
    const int gate = space_rejected_at(weak->space, values, shape, err);

    if (gate != SPACE_PASSES)
        return gate == SPACE_ERROR ? -1 : 0;
    if (space_arguments(weak->space, values, shape, arguments, err) < 0)
        return -1;
    if (weak->shapes++ == 0)
        memcpy(weak->first, arguments, sizeof(arguments));
    for (size_t i = 0; i < weak->spec->n_arguments; i++) {
        weak->differs[i] =
            weak->differs[i] ||
            (!weak->spec->arguments[i].buffer &&
             !value_equal(&weak->first[i].value, &arguments[i].value));
        if (weak->spec->arguments[i].buffer &&
            weak->most[i] < arguments[i].count)
            weak->most[i] = arguments[i].count;
    }
    return 0;
}

static int see_shapes(struct weak *weak, const char *device, struct err *err)
{
    size_t n, n_fuzz;
    const struct spec_shape *own = spec_shapes(weak->spec, device, &n);
    const struct spec_shape *fuzz =
        spec_fuzz_shapes(weak->spec, device, &n_fuzz);
    int rc = 0;

    for (size_t s = 0; rc == 0 && s < n; s++)
        rc = see_shape(weak, &own[s], err);
    for (size_t s = 0; rc == 0 && s < n_fuzz && fuzz != own; s++)
        rc = see_shape(weak, &fuzz[s], err);
    return rc;
}

/* The fills that have the same values in every trial; that of a file, too, but
 * a file has what its user means. */
static bool is_constant(const struct weak *weak, size_t i)
{
    const struct spec_argument *argument = &weak->spec->arguments[i];
    const char *fill = argument->fill;

    if (!argument->buffer || argument->output || argument->workspace)
        return false;
    if (strcmp(fill, "range") == 0 && weak->shapes > 0)
        return weak->first[i].low == weak->first[i].high;
    return strcmp(fill, "zeros") == 0 || strcmp(fill, "ones") == 0 ||
           strcmp(fill, "iota") == 0;
}

static void say_inputs(const struct weak *weak)
{
    for (size_t i = 0; i < weak->spec->n_arguments; i++)
        if (is_constant(weak, i))
            say(weak, mem_printf("input '%s' has the same values in all "
                                 "trials, so a kernel that does not read it "
                                 "may pass",
                                 weak->spec->arguments[i].name));
}

/* With a shape alone, every scalar is one. */
static void say_scalars(const struct weak *weak)
{
    for (size_t i = 0; i < weak->spec->n_arguments && weak->shapes > 1; i++)
        if (!weak->spec->arguments[i].buffer && !weak->differs[i])
            say(weak, mem_printf("scalar '%s' is the same at all %zu shapes, "
                                 "so a kernel that does not read it may pass",
                                 weak->spec->arguments[i].name, weak->shapes));
}

/* Steps of a type from a number to 0, at most. */
static double ulps_to_zero(const char *type)
{
    static const struct {
        const char *type;
        double steps;
    } rows[] = {
        { "fp16", 0x1p11 },
        { "bf16", 0x1p8 },
        { "fp32", 0x1p24 },
        { "fp64", 0x1p53 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(type, rows[i].type) == 0)
            return rows[i].steps;
    return (double)INFINITY;
}

/* How far zeros are from any reference: relatively 1, or almost that in an
 * element.  What an absolute error is of it depends on the reference. */
static bool takes_zeros(const struct spec_argument *argument)
{
    const struct spec_tolerance *rules = &argument->tolerance;

    return !rules->exact && rules->relative_l2 >= 1 && rules->max_error >= 1 &&
           (rules->ulp >= ulps_to_zero(argument->type));
}

/* The size of an input: its largest integer, the deviation or the end of its
 * floats; NaN if it is not known. */
static double size_of_input(const struct weak *weak, size_t i)
{
    const char *fill = weak->spec->arguments[i].fill;
    const struct space_argument *first = &weak->first[i];

    if (strcmp(fill, "range") == 0 || strcmp(fill, "sorted") == 0)
        return fmax(fabs((double)first->low), fabs((double)first->high));
    if (strcmp(fill, "permutation") == 0)
        return (double)first->count;
    if (strcmp(fill, "iota") == 0)
        return fabs(first->scale) * (double)first->count;
    if (strcmp(fill, "zeros") == 0)
        return 0;
    return strcmp(fill, "file") == 0 ? NAN : fabs(first->scale);
}

/* The size of the largest input; NaN if there is none, or the size of one is
 * unknown. */
static double size_of_inputs(const struct weak *weak)
{
    double most = NAN;

    for (size_t i = 0; i < weak->spec->n_arguments && weak->shapes > 0; i++) {
        const struct spec_argument *argument = &weak->spec->arguments[i];
        double size;

        if (!argument->buffer || argument->output || argument->workspace)
            continue;
        size = size_of_input(weak, i);
        if (isnan(size))
            return NAN;
        most = fmax(most, size);
    }
    return most;
}

/* An element like the others is this part of the norm of all, so with no rule
 * for each element one that is 0 does not show. */
static bool takes_one_zero(const struct spec_tolerance *rules, int64_t count)
{
    return !rules->exact && isinf(rules->max_error) && isinf(rules->absolute) &&
           isinf(rules->ulp) && 1 / sqrt((double)count) < rules->relative_l2;
}

static void say_tolerance(const struct weak *weak, size_t i)
{
    const struct spec_argument *argument = &weak->spec->arguments[i];

    if (takes_zeros(argument) && !isinf(argument->tolerance.absolute)) {
        if (argument->tolerance.absolute >= size_of_inputs(weak))
            say(weak, mem_printf("the tolerance of '%s' is an absolute error "
                                 "of %g, as large as the inputs are, so zeros "
                                 "may pass; give it a max_error as well",
                                 argument->name, argument->tolerance.absolute));
    } else if (takes_zeros(argument))
        say(weak, mem_printf("the tolerance of '%s' is so wide that zeros "
                             "pass, whatever the reference is",
                             argument->name));
    else if (takes_one_zero(&argument->tolerance, weak->most[i]))
        say(weak, mem_printf("the tolerance of '%s' has a relative_l2 alone, "
                             "so one element of %lld that is 0 may pass; give "
                             "it a max_error as well",
                             argument->name, (long long)weak->most[i]));
}

static void say_tolerances(const struct weak *weak)
{
    for (size_t i = 0; i < weak->spec->n_arguments; i++)
        if (weak->spec->arguments[i].output)
            say_tolerance(weak, i);
}

int plan_weak(const struct spec *spec, struct space *space, const char *device,
              void (*say_line)(void *arg, const char *text), void *arg,
              struct err *err)
{
    struct weak weak = {
        .spec = spec, .space = space, .say = say_line, .arg = arg
    };
    int rc = see_shapes(&weak, device, err);

    if (rc < 0)
        return rc;
    say_inputs(&weak);
    say_scalars(&weak);
    say_tolerances(&weak);
    return 0;
}
