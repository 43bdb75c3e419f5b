/* Parts of a condition that SQL cannot say, or not with every bit, and that
 * depend on one tunable: "CASE A WHEN 2 THEN 1 WHEN 3 THEN 0 END". */
#include <math.h>

#include "common/err.h"
#include "coordinator/python/py_sql.h"
#include "coordinator/python/py_sql_internal.h"

struct cases {
    struct py_sql *sql;
    const struct py_node *node;
    struct py_name *name;
    struct py_sql_type type; /* of what was written */
    size_t n;
    bool raised; /* Python raises an error for a value: NULL */
};

static void cut(struct buf *out, size_t len, bool truncated)
{
    if (out->len > len) {
        out->len = len;
        out->bytes[len] = '\0';
    }
    out->truncated = truncated;
}

/* Whether it can be a value beside those before. */
static bool joins(struct cases *cases, const struct py_value *value)
{
    struct py_sql_type type = py_sql_type_of(value), before = cases->type;

    cases->type = type;
    if (cases->n == 0)
        return true;
    if ((type.kind == PY_TEXT) != (before.kind == PY_TEXT))
        return false;
    if (type.kind != before.kind && type.kind != PY_TEXT)
        cases->type.kind =
            type.kind == PY_REAL || before.kind == PY_REAL ? PY_REAL : PY_INT;
    cases->type.positive = type.positive && before.positive;
    cases->type.most = fmax(type.most, before.most);
    return true;
}

/* "WHEN value THEN result" */
static bool put_one(struct cases *cases, const struct py_value *value,
                    bool truth)
{
    struct py_sql *sql = cases->sql;
    struct py_value result = { .kind = PY_INT };

    cases->name->value = *value;
    if (py_sql_constant(sql, cases->node, &result) < 0) {
        cases->raised = true;
        return sql->steps > 0;
    }
    if (truth)
        result = py_value_int(py_value_truth(&result));
    if (!joins(cases, &result))
        return false;
    cases->n++;
    buf_str(sql->out, " WHEN ");
    py_sql_write(value, sql->out);
    buf_str(sql->out, " THEN ");
    return py_sql_literal(sql, &result) && !sql->out->truncated;
}

/* All values of the tunable, and its default, which may be another. */
static bool put_all(struct cases *cases, bool truth)
{
    const struct py_name *name = cases->name;
    struct py_value start = name->value;
    bool is_value = false, ok = true;

    buf_printf(cases->sql->out, "(CASE %s", name->sql);
    for (size_t i = 0; ok && i < name->n_values; i++) {
        is_value = is_value || py_value_equal(&name->values[i], &start);
        ok = put_one(cases, &name->values[i], truth);
    }
    if (ok && !is_value)
        ok = put_one(cases, &start, truth);
    cases->name->value = start;
    buf_str(cases->sql->out, " END)");
    return ok && cases->n > 0 && !cases->sql->out->truncated;
}

int py_sql_case(struct py_sql *sql, const struct py_node *node, size_t before,
                struct py_sql_type *type)
{
    struct cases cases = { .sql = sql,
                           .node = node,
                           .name = py_sql_only(sql, node) };
    struct py_flaw flaw = *sql->flaw;
    long steps = sql->steps;
    bool ok;

    if (!cases.name)
        return ERR_INPUT;
    cut(sql->out, before, false);
    sql->steps = sql->case_steps;
    ok = put_all(&cases, !type);
    sql->case_steps = sql->steps;
    sql->steps = steps;
    if (ok && (!cases.raised || py_sql_fails(sql, node))) {
        if (type)
            *type = cases.type;
        return 0;
    }
    cut(sql->out, before, false);
    *sql->flaw = flaw;
    return ERR_INPUT;
}
