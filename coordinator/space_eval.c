/* One configuration: derived values, launch geometry, arguments, metrics. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config.h"
#include "coordinator/name.h"
#include "coordinator/roofline.h"
#include "coordinator/space_private.h"

#define COLUMNS_MAX (SPEC_LIST_MAX * SPEC_DIMS_MAX)
#define ELEMENTS_MAX (INT64_C(1) << 48) /* of a buffer */

/* The rules that one eval holds, in the order of its columns. */
struct batch {
    const struct spec_rule *rules[COLUMNS_MAX];
    size_t n;
    struct rule_use use;
    char what[SPEC_NAME_MAX + 32];
};

static void add(struct batch *batch, const struct spec_rule *rule)
{
    batch->rules[batch->n++] = rule;
}

static void add_launch(struct batch *batch, const struct spec_launch *launch)
{
    for (int i = 0; i < 3; i++)
        add(batch, &launch->grid[i]);
    for (int i = 0; i < 3; i++)
        add(batch, &launch->block[i]);
    add(batch, &launch->smem);
}

/* Check the rules of a batch and prepare them as one query; the first column
 * makes a query of an empty batch. */
static int prepare(struct space *space, const struct batch *batch,
                   struct space_eval *out, struct err *err)
{
    struct buf sql;
    int rc = 0;

    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT 0");
    for (size_t i = 0; i < batch->n && rc == 0; i++) {
        struct rule_needs needs;

        rc = rule_check(&batch->use, batch->rules[i], &needs, err);
        if (rc == 0)
            rc = space_parse(space, batch->rules[i], batch->use.what, err);
        buf_printf(&sql, ",(");
        space_sql_parameters(space, batch->rules[i]->text, &sql);
        buf_printf(&sql, ")");
    }
    if (rc == 0)
        rc = space_prepare(space, &sql, &out->stmt, err);
    buf_fini(&sql);
    return rc;
}

static void bind_value(sqlite3_stmt *stmt, int at, const struct value *value)
{
    if (value->kind == VALUE_TEXT)
        sqlite3_bind_text(stmt, at, value->text, -1, SQLITE_STATIC);
    else if (value->kind == VALUE_REAL)
        sqlite3_bind_double(stmt, at, value->real);
    else
        sqlite3_bind_int64(stmt, at, value->integer);
}

/* Parameters that a query does not use are out of its range: not an error. */
static int run(struct space *space, const struct space_eval *eval,
               const struct value *values, const struct spec_shape *shape,
               double time_s, struct err *err)
{
    const struct spec *spec = space->spec;
    int at = 1;

    sqlite3_reset(eval->stmt);
    sqlite3_clear_bindings(eval->stmt);
    for (size_t i = 0; i < spec->n_axes; i++, at++)
        if (values)
            bind_value(eval->stmt, at, &values[i]);
    for (size_t i = 0; i < spec->n_vars; i++, at++)
        if (shape)
            sqlite3_bind_int64(eval->stmt, at, shape->vars[i]);
    sqlite3_bind_double(eval->stmt, at, time_s);
    fence_start_clock(&space->fence, SPACE_SECONDS_MAX);
    if (sqlite3_step(eval->stmt) != SQLITE_ROW)
        return space_step_err(space, err);
    return 0;
}

/* Column i of the batch; a text lives until the next run. */
static struct value column(const struct space_eval *eval, size_t i)
{
    struct value value = { .kind = VALUE_NULL };
    int at = (int)i + 1;

    switch (sqlite3_column_type(eval->stmt, at)) {
    case SQLITE_INTEGER:
        value.kind = VALUE_INT;
        value.integer = sqlite3_column_int64(eval->stmt, at);
        break;
    case SQLITE_FLOAT:
        value.kind = VALUE_REAL;
        value.real = sqlite3_column_double(eval->stmt, at);
        break;
    case SQLITE_TEXT:
        value.kind = VALUE_TEXT;
        value.text = (const char *)sqlite3_column_text(eval->stmt, at);
        break;
    default:
        break;
    }
    return value;
}

/* "'grid' yields NULL for BLOCK_M=64 ..., shape 's512'" */
static int yields(const struct space *space, const struct spec_rule *rule,
                  const char *what, const struct value *got,
                  const struct value *values, const struct spec_shape *shape,
                  const char *why, struct err *err)
{
    struct buf text, point;
    int rc;

    buf_init(&text, 80);
    buf_init(&point, 160);
    value_text(got, &text);
    if (values) {
        buf_printf(&point, " for ");
        config_text(space->spec, values, &point);
    }
    if (shape)
        buf_printf(&point, ", shape '%.40s'", shape->name);
    rc = spec_err_in(space->spec, rule, 0, err, why, "%s yields %s%s", what,
                     buf_text(&text), buf_text(&point));
    buf_fini(&text);
    buf_fini(&point);
    return rc;
}

/* ceil() and friends yield reals; those that are whole are taken. */
static bool whole(const struct value *value, int64_t *out)
{
    if (value->kind == VALUE_INT) {
        *out = value->integer;
        return true;
    }
    if (value->kind != VALUE_REAL || value->real != floor(value->real) ||
        fabs(value->real) > 0x1p53)
        return false;
    *out = (int64_t)value->real;
    return true;
}

/* ---- derived values */

static const char *derived_flaw(const struct value *value)
{
    if (value->kind == VALUE_NULL ||
        (value->kind == VALUE_REAL && !isfinite(value->real)))
        return "it is a macro of the build, so it has a value; x / 0 and facts "
               "that are not known yield NULL";
    return value->kind == VALUE_TEXT ? name_value_flaw(value->text) : NULL;
}

static int keep_derived(struct space *space, size_t i,
                        const struct value *values, struct value *out,
                        struct err *err)
{
    const struct spec_named *named = &space->spec->derived[i];
    const char *flaw = derived_flaw(out);
    char what[SPEC_NAME_MAX + 32];

    if (flaw) {
        snprintf(what, sizeof(what), "derived value '%s'", named->name);
        return yields(space, &named->rule, what, out, values, NULL, flaw, err);
    }
    if (out->kind != VALUE_TEXT)
        return 0;
    free(space->texts[i]);
    space->texts[i] = mem_strdup(out->text);
    out->text = space->texts[i];
    return 0;
}

/* Is the row that was asked for last still that of these values?  Points in
 * order of number differ in the last tunables, which often no derived value
 * names.  Texts may be gone by now. */
static bool is_derived(struct space *space, const struct value *values)
{
    bool same = space->is_derived;

    for (size_t i = 0; i < space->spec->n_axes; i++) {
        if (!(space->derived_axes >> i & 1))
            continue;
        same = same && values[i].kind != VALUE_TEXT &&
               value_equal(&space->derived_from[i], &values[i]);
        space->derived_from[i] = values[i];
    }
    return same;
}

int space_derive(struct space *space, const struct value *values,
                 struct value *derived, struct err *err)
{
    int rc = 0;

    if (!is_derived(space, values))
        rc = run(space, &space->derive, values, NULL, 0, err);
    for (size_t i = 0; i < space->spec->n_derived && rc == 0; i++) {
        derived[i] = column(&space->derive, i);
        rc = keep_derived(space, i, values, &derived[i], err);
    }
    space->is_derived = rc == 0;
    return rc;
}

/* ---- launch */

static int launch(struct space *space, const struct space_eval *eval,
                  const struct spec_launch *rules, const struct value *values,
                  const struct spec_shape *shape, struct space_launch *out,
                  struct err *err)
{
    int64_t numbers[7] = { 0 };
    int rc = run(space, eval, values, shape, 0, err);

    for (size_t i = 0; i < 7 && rc == 0; i++) {
        const struct spec_rule *rule = i < 3   ? &rules->grid[i]
                                       : i < 6 ? &rules->block[i - 3]
                                               : &rules->smem;
        const char *what = i < 3 ? "'grid'" : i < 6 ? "'block'" : "'smem'";
        struct value value = column(eval, i);

        if (!whole(&value, &numbers[i]) || numbers[i] < (i < 6) ||
            numbers[i] > UINT32_MAX)
            rc = yields(space, rule, what, &value, values, shape,
                        i < 6 ? "a whole number from 1 to 2^32 - 1"
                              : "whole bytes, 0 or more",
                        err);
    }
    if (rc < 0)
        return rc;
    memcpy(out->grid, numbers, sizeof(out->grid));
    memcpy(out->block, numbers + 3, sizeof(out->block));
    out->smem = numbers[6];
    return 0;
}

int space_launch(struct space *space, const struct value *values,
                 const struct spec_shape *shape, struct space_launch *out,
                 struct err *err)
{
    return launch(space, &space->launch, &space->spec->kernel.launch, values,
                  shape, out, err);
}

int space_reference_launch(struct space *space, const struct spec_shape *shape,
                           struct space_launch *out, struct err *err)
{
    return launch(space, &space->reference, &space->spec->reference.launch,
                  NULL, shape, out, err);
}

/* ---- arguments */

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
        return yields(space, &argument->value, what, out, values, shape,
                      "a number", err);
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(argument->type, integers[i].type) != 0)
            continue;
        if (!whole(out, &number) || number > integers[i].most ||
            number < -integers[i].most - 1)
            return yields(space, &argument->value, what, out, values, shape,
                          "a whole number that fits its type", err);
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
    if (!whole(&got, &size) || size < 1 || size > ELEMENTS_MAX / out->count)
        return yields(space, &argument->dims[d], what, &got, values, shape,
                      "a whole number from 1 on, and at most 2^48 elements in "
                      "all",
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
    int rc = run(space, &space->scales, NULL, shape, 0, err);
    size_t at = 0;

    for (size_t i = 0; i < spec->n_arguments && rc == 0; i++) {
        const struct spec_argument *argument = &spec->arguments[i];
        char what[SPEC_NAME_MAX + 32];
        struct value value;

        out[i].scale = argument->scale;
        if (!argument->scale_rule.text)
            continue;
        snprintf(what, sizeof(what), "the scale of '%s'", argument->name);
        value = column(&space->scales, at++);
        out[i].scale = value_number(&value);
        if (!(fabs(out[i].scale) <= SPEC_SCALE_MAX))
            rc = yields(space, &argument->scale_rule, what, &value, NULL, shape,
                        "a number from -1e30 to 1e30", err);
    }
    return rc;
}

int space_arguments(struct space *space, const struct value *values,
                    const struct spec_shape *shape, struct space_argument *out,
                    struct err *err)
{
    const struct spec *spec = space->spec;
    int rc = run(space, &space->arguments, values, shape, 0, err);
    size_t at = 0;

    for (size_t i = 0; i < spec->n_arguments && rc == 0; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        out[i] = (struct space_argument){ .count = 1, .rows = 1, .columns = 1 };
        for (size_t d = 0; d < argument->n_dims && rc == 0; d++)
            rc = dimension(space, argument, d, column(&space->arguments, at++),
                           values, shape, &out[i], err);
        if (argument->buffer)
            continue;
        out[i].value = column(&space->arguments, at++);
        rc = scalar(space, argument, values, shape, &out[i].value, err);
    }
    return rc == 0 ? scales(space, shape, out, err) : rc;
}

/* ---- metrics and floors */

int space_metric(struct space *space, size_t metric, const struct value *values,
                 const struct spec_shape *shape, double time_s, double *out,
                 struct err *err)
{
    int rc = run(space, &space->metrics[metric], values, shape, time_s, err);
    struct value value;

    if (rc < 0)
        return rc;
    value = column(&space->metrics[metric], 0);
    *out = value_number(&value);
    return 0;
}

int space_floors(struct space *space, const struct spec_shape *shape,
                 double *seconds, struct err *err)
{
    int rc = run(space, &space->floors, NULL, shape, 0, err);

    for (size_t i = 0; i < space->spec->n_floors; i++) {
        struct value value;

        seconds[i] = NAN;
        if (rc < 0)
            continue;
        value = column(&space->floors, i);
        if (value_number(&value) > 0 && isfinite(value_number(&value)))
            seconds[i] = value_number(&value);
    }
    return rc;
}

int space_floor(struct space *space, const struct spec_shape *shape,
                double *seconds, int *floor_index, struct err *err)
{
    double floors[SPEC_LIST_MAX];
    int rc = space_floors(space, shape, floors, err);
    size_t binds = roofline_binding(floors, space->spec->n_floors);

    *floor_index = binds == ROOFLINE_NONE ? -1 : (int)binds;
    *seconds = binds == ROOFLINE_NONE ? (double)NAN : floors[binds];
    return rc;
}

/* ---- gates, for configurations that are not points */

/* Is the gate hit for any of these shapes? */
static int hits(struct space *space, size_t g, const struct value *values,
                const struct spec_shape *shapes, size_t n_shapes,
                struct err *err)
{
    const struct spec_gate *gate = &space->spec->gates[g];
    size_t n = space->gates[g].needs.vars ? n_shapes : 1;
    char what[SPEC_NAME_MAX + 32];

    snprintf(what, sizeof(what), "gate '%s'", gate->name);
    for (size_t s = 0; s < n; s++) {
        struct value value;

        if (run(space, &space->gates[g].eval, values, &shapes[s], 0, err) < 0)
            return ERR_INPUT;
        value = column(&space->gates[g].eval, 0);
        if (value_number(&value) == 1)
            return 1;
        if (value_number(&value) != 0)
            return yields(space, &gate->rule, what, &value, values, &shapes[s],
                          "a rule yields 0 or 1", err);
    }
    return 0;
}

static int rejected(struct space *space, const struct value *values,
                    const struct spec_shape *shapes, size_t n, struct err *err)
{
    for (size_t g = 0; !space->spec->replay && g < space->spec->n_gates; g++) {
        int rc = space->spec->gates[g].warns
                     ? 0
                     : hits(space, g, values, shapes, n, err);

        if (rc != 0)
            return rc < 0 ? SPACE_ERROR : (int)g;
    }
    return SPACE_PASSES;
}

int space_rejected_by(struct space *space, const struct value *values,
                      struct err *err)
{
    return rejected(space, values, space->shapes, space->n_shapes, err);
}

int space_rejected_at(struct space *space, const struct value *values,
                      const struct spec_shape *shape, struct err *err)
{
    return rejected(space, values, shape, 1, err);
}

int space_warned_by(struct space *space, const struct value *values,
                    uint64_t *out, struct err *err)
{
    *out = 0;
    for (size_t g = 0; !space->spec->replay && g < space->spec->n_gates; g++) {
        int rc =
            space->spec->gates[g].warns
                ? hits(space, g, values, space->shapes, space->n_shapes, err)
                : 0;

        if (rc < 0)
            return rc;
        *out |= (uint64_t)rc << g;
    }
    return 0;
}

/* ---- open and close */

static int open_launches(struct space *space, struct batch *batch,
                         struct err *err)
{
    const struct spec *spec = space->spec;

    batch->n = 0;
    batch->use.scopes = RULE_TUNABLE | RULE_DERIVED | RULE_VAR | RULE_FACT;
    batch->use.what = "launch";
    batch->use.why = "a launch comes before its time is known";
    add_launch(batch, &spec->kernel.launch);
    if (prepare(space, batch, &space->launch, err) < 0)
        return ERR_INPUT;
    batch->n = 0;
    batch->use.scopes = RULE_VAR | RULE_FACT;
    batch->use.what = "the reference's launch";
    batch->use.why = "the reference is the same for all configurations";
    add_launch(batch, &spec->reference.launch);
    return prepare(space, batch, &space->reference, err);
}

static int open_arguments(struct space *space, struct batch *batch,
                          struct err *err)
{
    const struct spec *spec = space->spec;

    batch->n = 0;
    batch->use.scopes = RULE_TUNABLE | RULE_DERIVED | RULE_VAR | RULE_FACT;
    batch->use.what = "an argument";
    batch->use.why = "arguments are made before anything is measured";
    for (size_t i = 0; i < spec->n_arguments; i++) {
        for (size_t d = 0; d < spec->arguments[i].n_dims; d++)
            add(batch, &spec->arguments[i].dims[d]);
        if (!spec->arguments[i].buffer)
            add(batch, &spec->arguments[i].value);
    }
    if (prepare(space, batch, &space->arguments, err) < 0)
        return ERR_INPUT;
    batch->n = 0;
    batch->use.scopes = RULE_VAR;
    batch->use.what = "the scale of an argument";
    batch->use.why = "inputs are the same for all configurations and devices";
    for (size_t i = 0; i < spec->n_arguments; i++)
        if (spec->arguments[i].scale_rule.text)
            add(batch, &spec->arguments[i].scale_rule);
    return prepare(space, batch, &space->scales, err);
}

static int open_metrics(struct space *space, struct batch *batch,
                        struct err *err)
{
    const struct spec *spec = space->spec;

    for (size_t i = 0; i < spec->n_metrics; i++) {
        batch->n = 0;
        batch->use.scopes =
            RULE_TUNABLE | RULE_DERIVED | RULE_VAR | RULE_FACT | RULE_TIME;
        batch->use.what = batch->what;
        snprintf(batch->what, sizeof(batch->what), "metric '%s'",
                 spec->metrics[i].name);
        add(batch, &spec->metrics[i].rule);
        if (prepare(space, batch, &space->metrics[i], err) < 0)
            return ERR_INPUT;
    }
    batch->n = 0;
    batch->use.scopes = RULE_VAR | RULE_FACT;
    batch->use.what = "a floor";
    batch->use.why = "a floor holds for every configuration of a shape";
    for (size_t i = 0; i < spec->n_floors; i++)
        add(batch, &spec->floors[i].rule);
    return prepare(space, batch, &space->floors, err);
}

static int open_gates(struct space *space, struct batch *batch, struct err *err)
{
    const struct spec *spec = space->spec;

    batch->use.scopes = RULE_TUNABLE | RULE_DERIVED | RULE_VAR | RULE_FACT;
    batch->use.what = "a gate";
    for (size_t g = 0; g < spec->n_gates; g++) {
        batch->n = 0;
        add(batch, &spec->gates[g].rule);
        if (prepare(space, batch, &space->gates[g].eval, err) < 0)
            return ERR_INPUT;
    }
    return 0;
}

int space_eval_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct batch batch = { .use = { .spec = spec,
                                    .scopes =
                                        RULE_TUNABLE | RULE_DERIVED | RULE_FACT,
                                    .derived = space->derived,
                                    .n_derived = spec->n_derived,
                                    .what = "a derived value",
                                    .why = "" } };

    for (size_t i = 0; i < spec->n_derived; i++) {
        add(&batch, &spec->derived[i].rule);
        space->derived_axes |= space->derived[i].axes;
    }
    if (prepare(space, &batch, &space->derive, err) < 0 ||
        open_launches(space, &batch, err) < 0 ||
        open_arguments(space, &batch, err) < 0 ||
        open_gates(space, &batch, err) < 0)
        return ERR_INPUT;
    return open_metrics(space, &batch, err);
}

void space_eval_close(struct space *space)
{
    sqlite3_finalize(space->derive.stmt);
    sqlite3_finalize(space->launch.stmt);
    sqlite3_finalize(space->reference.stmt);
    sqlite3_finalize(space->arguments.stmt);
    sqlite3_finalize(space->scales.stmt);
    sqlite3_finalize(space->floors.stmt);
    for (size_t i = 0; i < SPEC_LIST_MAX; i++) {
        sqlite3_finalize(space->metrics[i].stmt);
        sqlite3_finalize(space->gates[i].eval.stmt);
        free(space->texts[i]);
    }
}
