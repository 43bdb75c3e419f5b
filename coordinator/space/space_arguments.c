/* The arguments of one configuration: buffers, their fills, scalars. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_internal.h"

/* Inputs are made as doubles. */
#define BOUND_MAX (INT64_C(1) << 53)
#define ELEMENTS_MAX (INT64_C(1) << 48) /* of a buffer */

static int open_fills(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(
        &batch, space, SQL_RULE_VAR, "the fill of an argument",
        "inputs must be the same for all configurations and devices");
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];
        const struct spec_rule *rules[] = { &argument->scale_rule,
                                            &argument->bounds[0],
                                            &argument->bounds[1] };

        for (size_t k = 0; k < 3; k++)
            if (rules[k]->text)
                space_batch_add(&batch, rules[k]);
    }
    return space_eval_open(space, &batch, &space->evals.fills, err);
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
    return open_fills(space, err);
}

/* The largest number of an integer type; 0 of the others. */
static int64_t largest(const char *type)
{
    static const struct {
        const char *type;
        int64_t most;
    } integers[] = { { "int8", INT8_MAX },
                     { "int32", INT32_MAX },
                     { "int64", INT64_MAX } };

    for (size_t i = 0; i < 3; i++)
        if (strcmp(type, integers[i].type) == 0)
            return integers[i].most;
    return 0;
}

static int scalar(struct space *space, const struct spec_argument *argument,
                  const struct value *values, const struct spec_shape *shape,
                  struct value *out, struct err *err)
{
    const int64_t most = largest(argument->type);
    char what[SPEC_NAME_MAX + 32];
    int64_t number;

    snprintf(what, sizeof(what), "argument '%s'", argument->name);
    if (isnan(value_number(out)) || isinf(value_number(out)))
        return space_eval_flaw(space, &argument->value, what, out, values,
                               shape, "a number", err);
    if (most > 0) {
        if (!space_eval_whole(out, &number) || number > most ||
            number < -most - 1)
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

static int scale(struct space *space, const struct spec_argument *argument,
                 struct value value, const struct spec_shape *shape,
                 double *out, struct err *err)
{
    char what[SPEC_NAME_MAX + 32];

    *out = value_number(&value);
    if (fabs(*out) <= SPEC_SCALE_MAX)
        return 0;
    snprintf(what, sizeof(what), "the scale of '%s'", argument->name);
    return space_eval_flaw(space, &argument->scale_rule, what, &value, NULL,
                           shape, "a number from -1e30 to 1e30", err);
}

/* Bound 'k' of the fill, a whole number from 'least' that fits the type. */
static int bound(struct space *space, const struct spec_argument *argument,
                 size_t k, int64_t least, struct value value,
                 const struct spec_shape *shape, int64_t *out, struct err *err)
{
    int64_t most = largest(argument->type);
    char what[SPEC_NAME_MAX + 32], why[128];

    if (most > BOUND_MAX)
        most = BOUND_MAX;
    if (least < -most - 1)
        least = -most - 1;
    if (space_eval_whole(&value, out) && *out >= least && *out <= most)
        return 0;
    snprintf(what, sizeof(what), "a bound of '%s'", argument->name);
    snprintf(why, sizeof(why),
             "it must be a whole number from %" PRId64 " to %" PRId64, least,
             most);
    return space_eval_flaw(space, &argument->bounds[k], what, &value, NULL,
                           shape, why, err);
}

/* 'at' counts the columns of the fills. */
static int bounds(struct space *space, const struct spec_argument *argument,
                  size_t *at, const struct spec_shape *shape,
                  struct space_argument *out, struct err *err)
{
    const struct space_eval *fills = &space->evals.fills;
    int rc;

    if (!argument->bounds[1].text) /* sorted, from 0 */
        return bound(space, argument, 0, 0, space_eval_column(fills, (*at)++),
                     shape, &out->high, err);
    rc = bound(space, argument, 0, INT64_MIN, space_eval_column(fills, (*at)++),
               shape, &out->low, err);
    return rc == 0 ? bound(space, argument, 1, out->low,
                           space_eval_column(fills, (*at)++), shape, &out->high,
                           err)
                   : rc;
}

/* Does a permutation of 'count' elements fit the type? */
static int permutation(struct space *space,
                       const struct spec_argument *argument, int64_t count,
                       const struct spec_shape *shape, struct err *err)
{
    const struct value value = { .kind = VALUE_INT, .integer = count };
    char what[SPEC_NAME_MAX + 32];

    if (count - 1 <= largest(argument->type))
        return 0;
    snprintf(what, sizeof(what), "the size of '%s'", argument->name);
    return space_eval_flaw(space, &argument->dims[0], what, &value, NULL, shape,
                           "so many numbers do not fit the type of this "
                           "permutation",
                           err);
}

/* Has the file as many elements as the buffer? */
static int file(struct space *space, const struct spec_argument *argument,
                int64_t count, const struct spec_shape *shape, struct err *err)
{
    const struct spec_input *input =
        spec_inputs_at(space->spec, argument, shape);
    const struct value value = { .kind = VALUE_INT, .integer = count };
    char what[SPEC_NAME_MAX + 32], why[160];

    if (input && input->npy.count == count)
        return 0;
    snprintf(what, sizeof(what), "the size of '%s'", argument->name);
    if (input)
        snprintf(why, sizeof(why), "'%.64s' has %" PRId64 " elements",
                 input->name, input->npy.count);
    else
        snprintf(why, sizeof(why),
                 "no file was read for this shape, because it is not in the "
                 "sweep file");
    return space_eval_flaw(space, &argument->dims[0], what, &value, NULL, shape,
                           why, err);
}

static int fills(struct space *space, const struct spec_shape *shape,
                 struct space_argument *out, struct err *err)
{
    const struct spec *spec = space->spec;
    int rc = space_eval_run(space, &space->evals.fills, NULL, shape, 0, err);
    size_t at = 0;

    for (size_t i = 0; i < spec->n_arguments && rc == 0; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        out[i].scale = argument->scale;
        if (argument->scale_rule.text)
            rc = scale(space, argument,
                       space_eval_column(&space->evals.fills, at++), shape,
                       &out[i].scale, err);
        else if (argument->bounds[0].text)
            rc = bounds(space, argument, &at, shape, &out[i], err);
        else if (argument->buffer && strcmp(argument->fill, "permutation") == 0)
            rc = permutation(space, argument, out[i].count, shape, err);
        else if (argument->file)
            rc = file(space, argument, out[i].count, shape, err);
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
    return rc == 0 ? fills(space, shape, out, err) : rc;
}
