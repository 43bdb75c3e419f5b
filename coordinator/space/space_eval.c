/* Evaluates rules together: a query is prepared once and run for each
 * configuration. */
#include "coordinator/space/space_eval.h"

#include <math.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/config/config.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"

void space_batch_init(struct space_batch *batch, const struct space *space,
                      unsigned scopes, const char *what, const char *why)
{
    batch->n = 0;
    batch->use =
        (struct sql_rule_use){ .spec = space->spec,
                               .scopes = scopes,
                               .derived = space->derived,
                               .n_derived = space->spec->space.n_derived,
                               .what = what,
                               .why = why };
}

void space_batch_add(struct space_batch *batch, const struct spec_rule *rule)
{
    batch->rules[batch->n++] = rule;
}

/* The extra first column makes a valid query of an empty batch. */
int space_eval_open(struct space *space, const struct space_batch *batch,
                    struct space_eval *out, struct err *err)
{
    struct buf sql;
    int rc = 0;

    out->axes = 0;
    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT 0");
    for (size_t i = 0; i < batch->n && rc == 0; i++) {
        struct sql_rule_needs needs;

        rc = sql_rule_check(&batch->use, batch->rules[i], &needs, err);
        out->axes |= needs.axes;
        if (rc == 0)
            rc = space_parse(space, batch->rules[i], batch->use.what, err);
        buf_printf(&sql, ",(");
        space_sql_parameters(space, batch->rules[i]->text, &sql);
        buf_printf(&sql, ")%s", i == 0 ? " AS first_rule" : "");
    }
    if (rc == 0)
        rc = space_prepare(space, &sql, &out->stmt, err);
    if (rc == 0)
        out->first = sql_sandbox_column(out->stmt, "first_rule");
    buf_fini(&sql);
    return rc;
}

void space_eval_close(struct space_eval *eval)
{
    sqlite3_finalize(eval->stmt);
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

/* SQLite reports a parameter that the query does not use as out of range: not
 * an error. */
int space_eval_run(struct space *space, const struct space_eval *eval,
                   const struct value *values, const struct spec_shape *shape,
                   double time_s, struct err *err)
{
    const struct spec *spec = space->spec;
    int at = 1;

    sqlite3_reset(eval->stmt);
    sqlite3_clear_bindings(eval->stmt);
    for (size_t i = 0; i < spec->space.n_axes; i++, at++)
        if (values)
            bind_value(eval->stmt, at, &values[i]);
    for (size_t i = 0; i < spec->shapes.n_vars; i++, at++)
        if (shape)
            sqlite3_bind_int64(eval->stmt, at, shape->vars[i]);
    sqlite3_bind_double(eval->stmt, at, time_s);
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    if (sqlite3_step(eval->stmt) != SQLITE_ROW)
        return space_step_err(space, err);
    return 0;
}

struct value space_eval_column(const struct space_eval *eval, size_t i)
{
    struct value value = { .kind = VALUE_NULL };
    int at = eval->first + (int)i;

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

int space_eval_flaw(const struct space *space, const struct spec_rule *rule,
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

bool space_eval_whole(const struct value *value, int64_t *out)
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
