/* The arguments of one configuration: buffers, scales of inputs, scalars. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_internal.h"

#define ELEMENTS_MAX (INT64_C(1) << 48) /* of a buffer */

static int open_scales(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(
        &batch, space, SQL_RULE_VAR, "the scale of an argument",
        "inputs must be the same for all configurations and devices");
    for (size_t i = 0; i < spec->n_arguments; i++)
        if (spec->arguments[i].scale_rule.text)
            space_batch_add(&batch, &spec->arguments[i].scale_rule);
    return space_eval_open(space, &batch, &space->evals.scales, err);
}

int space_arguments_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(
        &batch, space,
        SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_VAR | SQL_RULE_FACT,
        "an argument", "arguments are made before anything is measured");
    for (size_t i = 0; i < spec->n_arguments; i++) {
        for (size_t d = 0; d < spec->arguments[i].n_dims; d++)
            space_batch_add(&batch, &spec->arguments[i].dims[d]);
        if (!spec->arguments[i].buffer)
            space_batch_add(&batch, &spec->arguments[i].value);
    }
    if (space_eval_open(space, &batch, &space->evals.arguments, err) < 0)
        return ERR_INPUT;
    return open_scales(space, err);
}

static int scalar(struct space *space, const struct spec_argument *argument,
                  const struct value *values, const struct spec_shape *shape,
                  struct value *out, struct err *err)
{
    static const struct {
        const char *type;
        int64_t most;
    } integers[] = { { "int8", INT8_MAX },
                     { "int32", INT32_MAX },
                     { "int64", INT64_MAX } };
    char what[SPEC_NAME_MAX + 32];
    int64_t number;

    snprintf(what, sizeof(what), "argument '%s'", argument->name);
    if (isnan(value_number(out)) || isinf(value_number(out)))
        return space_eval_flaw(space, &argument->value, what, out, values,
                               shape, "a number", err);
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(argument->type, integers[i].type) != 0)
            continue;
        if (!space_eval_whole(out, &number) || number > integers[i].most ||
            number < -integers[i].most - 1)
            return space_eval_flaw(
                space, &argument->value, what, out, values, shape,
                "it must be a whole number that fits its type", err);
        *out = (struct value){ .kind = VALUE_INT, .integer = number };
        return 0;
    }
    *out = (struct value){ .kind = VALUE_REAL, .real = value_number(out) };
    return 0;
}

static int dimension(struct space *space, const struct spec_argument *argument,
                     size_t d, struct value got, const struct value *values,
                     const struct spec_shape *shape, struct space_argument *out,
                     struct err *err)
{
    char what[SPEC_NAME_MAX + 48];
    int64_t size;

    snprintf(what, sizeof(what), "a dimension of '%s'", argument->name);
    if (!space_eval_whole(&got, &size) || size < 1 ||
        size > ELEMENTS_MAX / out->count)
        return space_eval_flaw(
            space, &argument->dims[d], what, &got, values, shape,
            "it must be a whole number of at least 1; all dimensions together "
            "may have at most 2^48 elements",
            err);
    out->count *= size;
    out->rows = out->columns;
    out->columns = size;
    return 0;
}

static int scales(struct space *space, const struct spec_shape *shape,
                  struct space_argument *out, struct err *err)
{
    const struct spec *spec = space->spec;
    int rc = space_eval_run(space, &space->evals.scales, NULL, shape, 0, err);
    size_t at = 0;

    for (size_t i = 0; i < spec->n_arguments && rc == 0; i++) {
        const struct spec_argument *argument = &spec->arguments[i];
        char what[SPEC_NAME_MAX + 32];
        struct value value;

        out[i].scale = argument->scale;
        if (!argument->scale_rule.text)
            continue;
        snprintf(what, sizeof(what), "the scale of '%s'", argument->name);
        value = space_eval_column(&space->evals.scales, at++);
        out[i].scale = value_number(&value);
        if (!(fabs(out[i].scale) <= SPEC_SCALE_MAX))
            rc = space_eval_flaw(space, &argument->scale_rule, what, &value,
                                 NULL, shape, "a number from -1e30 to 1e30",
                                 err);
    }
    return rc;
}

int space_arguments(struct space *space, const struct value *values,
                    const struct spec_shape *shape, struct space_argument *out,
                    struct err *err)
{
    const struct spec *spec = space->spec;
    int rc =
        space_eval_run(space, &space->evals.arguments, values, shape, 0, err);
    size_t at = 0;

    for (size_t i = 0; i < spec->n_arguments && rc == 0; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        out[i] = (struct space_argument){ .count = 1, .rows = 1, .columns = 1 };
        for (size_t d = 0; d < argument->n_dims && rc == 0; d++)
            rc = dimension(space, argument, d,
                           space_eval_column(&space->evals.arguments, at++),
                           values, shape, &out[i], err);
        if (argument->buffer)
            continue;
        out[i].value = space_eval_column(&space->evals.arguments, at++);
        rc = scalar(space, argument, values, shape, &out[i].value, err);
    }
    return rc == 0 ? scales(space, shape, out, err) : rc;
}
