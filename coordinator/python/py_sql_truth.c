/* Conditions: comparisons, and, or, not.
 *
 * Python evaluates from the left, and no further than it needs.  SQL is free
 * to do otherwise: NULL OR 1 is 1, where Python has raised an error.  So what
 * may be NULL and is not last goes into a CASE, which is NULL for NULL. */
#include "common/err.h"
#include "coordinator/python/py_sql_internal.h"

/* A constant beyond the ints of SQL is larger than all of them, also as a real.
 */
static int put_side(struct py_sql *sql, const struct py_node *node,
                    struct py_sql_type *type)
{
    struct py_value value = { .kind = PY_NONE };

    if (!py_sql_is_constant(sql, node) ||
        py_sql_constant(sql, node, &value) < 0 || value.kind != PY_INT ||
        py_value_fits(&value))
        return py_sql_value(sql, node, type);
    *type = py_sql_type_of(&value);
    value = py_value_real(py_value_number(&value));
    (void)py_sql_literal(sql, &value);
    return 0;
}

static int put_relation(struct py_sql *sql, const struct py_node *node,
                        size_t i)
{
    static const char *const signs[] = { " < ",  " <= ", " > ",
                                         " >= ", " = ",  " <> " };
    enum py_relation relation = node->relations[i];
    struct py_sql_type a = PY_SQL_TRUTH, b = a;
    int rc;

    if (relation == PY_IN || relation == PY_NOT_IN) {
        if (py_sql_fails(sql, node->items[i + 1]))
            return py_sql_no_counterpart(sql, node);
        buf_str(sql->out, relation == PY_NOT_IN ? "(NOT " : "");
        rc = py_sql_list_has(sql, node->items[i], node->items[i + 1]);
        buf_str(sql->out, relation == PY_NOT_IN ? ")" : "");
        return rc;
    }
    if (relation > PY_NOT_IN)
        return py_sql_no_counterpart(sql, node);
    buf_str(sql->out, "(");
    rc = put_side(sql, node->items[i], &a);
    buf_str(sql->out, signs[relation]);
    if (rc == 0)
        rc = put_side(sql, node->items[i + 1], &b);
    buf_str(sql->out, ")");
    if (rc == 0 && relation < PY_EQUAL &&
        (a.kind == PY_TEXT) != (b.kind == PY_TEXT))
        return py_flaw_set(sql->flaw, node->at,
                           "a text and a number have no order");
    return rc;
}

static bool relation_fails(struct py_sql *sql, const struct py_node *node,
                           size_t i)
{
    return py_sql_fails(sql, node->items[i]) ||
           py_sql_fails(sql, node->items[i + 1]);
}

/* Truths that are joined: relations of a chain, or operands. */
static int put_joined(struct py_sql *sql, const struct py_node *node, size_t n)
{
    bool any = node->op == PY_OP_OR, chain = node->op == PY_OP_COMPARE;
    size_t open = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool last = i + 1 == n;
        bool guard = !last && (chain ? relation_fails(sql, node, i)
                                     : py_sql_fails(sql, node->items[i]));

        buf_str(sql->out, guard ? "CASE " : "");
        rc = chain ? put_relation(sql, node, i)
                   : py_sql_truth(sql, node->items[i]);
        buf_str(sql->out, guard && any ? " WHEN 1 THEN 1 WHEN 0 THEN ("
                          : guard      ? " WHEN 0 THEN 0 WHEN 1 THEN ("
                          : last       ? ""
                          : any        ? " OR "
                                       : " AND ");
        open += guard;
    }
    while (open-- > 0)
        buf_str(sql->out, ") END");
    return rc;
}

static int put_compare(struct py_sql *sql, const struct py_node *node)
{
    int rc;

    buf_str(sql->out, node->n > 2 ? "(" : "");
    rc = put_joined(sql, node, node->n - 1);
    buf_str(sql->out, node->n > 2 ? ")" : "");
    return rc;
}

static int put_logic(struct py_sql *sql, const struct py_node *node)
{
    int rc;

    buf_str(sql->out, node->op == PY_OP_NOT ? "(NOT " : "(");
    rc = put_joined(sql, node, node->n);
    buf_str(sql->out, ")");
    return rc;
}

static int put_truth(struct py_sql *sql, const struct py_node *node)
{
    struct py_sql_type type;
    struct buf text;
    int rc;

    if (node->op == PY_OP_AND || node->op == PY_OP_OR || node->op == PY_OP_NOT)
        return put_logic(sql, node);
    if (node->op == PY_OP_COMPARE)
        return put_compare(sql, node);
    rc = py_sql_operand(sql, node, &text, &type);
    if (rc == 0)
        buf_printf(sql->out,
                   type.kind == PY_BOOL   ? "%s"
                   : type.kind == PY_TEXT ? "(%s <> '')"
                                          : "(%s <> 0)",
                   buf_text(&text));
    buf_fini(&text);
    return rc;
}

int py_sql_truth(struct py_sql *sql, const struct py_node *node)
{
    struct py_value value = { .kind = PY_INT };
    size_t before = sql->out->len;
    int rc = py_sql_spend(sql, node);

    if (rc < 0)
        return rc;
    if (py_sql_is_constant(sql, node)) {
        rc = py_sql_constant(sql, node, &value);
        buf_str(sql->out, rc == 0 && py_value_truth(&value) ? "1" : "0");
        return rc;
    }
    rc = put_truth(sql, node);
    return rc < 0 ? py_sql_case(sql, node, before, NULL) : rc;
}
