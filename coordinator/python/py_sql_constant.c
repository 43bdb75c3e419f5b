/* Parts of an expression that depend on no tunable, and values as literals. */
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_sql.h"
#include "coordinator/python/py_sql_internal.h"
#include "coordinator/text/value.h"

const struct py_name *py_sql_find(const struct py_sql *sql, const char *name)
{
    for (size_t i = sql->n_names; i > 0; i--)
        if (strcmp(sql->names[i - 1].name, name) == 0)
            return &sql->names[i - 1];
    return NULL;
}

static bool is_over_values(const struct py_sql *sql, const struct py_node *node)
{
    const struct py_name *name;

    if (node->op != PY_OP_CALL || node->n != 1 ||
        node->items[0]->op != PY_OP_NAME ||
        (strcmp(node->text, "max") != 0 && strcmp(node->text, "min") != 0))
        return false;
    name = py_sql_find(sql, node->items[0]->text);
    return name && name->values;
}

/* len([a, b]) is 2, whatever they are. */
static bool is_written_length(const struct py_node *node)
{
    return node->op == PY_OP_CALL && node->n == 1 &&
           node->items[0]->op == PY_OP_LIST && strcmp(node->text, "len") == 0;
}

static bool is_constant(const struct py_sql *sql, const struct py_node *node,
                        const struct py_node **bound, size_t n_bound)
{
    const struct py_name *name;
    bool constant = true;

    if (node->op == PY_OP_NAME) {
        for (size_t i = 0; i < n_bound; i++)
            if (strcmp(bound[i]->text, node->text) == 0)
                return true;
        name = py_sql_find(sql, node->text);
        return name && !name->sql;
    }
    if (is_over_values(sql, node) || is_written_length(node))
        return true;
    for (size_t i = 0; constant && i < node->n; i++) {
        if (node->op == PY_OP_FOR && i == 1) {
            if (n_bound == PY_SQL_FILTERS_MAX)
                return false;
            bound[n_bound++] = node;
        }
        constant = is_constant(sql, node->items[i], bound, n_bound);
    }
    return constant;
}

bool py_sql_is_constant(const struct py_sql *sql, const struct py_node *node)
{
    const struct py_node *bound[PY_SQL_FILTERS_MAX];

    return is_constant(sql, node, bound, 0);
}

/* Take the tunables that it depends on; false if they are more than one. */
static bool take_only(struct py_sql *sql, const struct py_node *node,
                      const struct py_node **bound, size_t n_bound,
                      struct py_name **only)
{
    const struct py_name *name;
    size_t i = 0;

    if (is_over_values(sql, node) || is_written_length(node))
        return true;
    if (node->op == PY_OP_NAME) {
        while (i < n_bound && strcmp(bound[i]->text, node->text) != 0)
            i++;
        name = i == n_bound ? py_sql_find(sql, node->text) : NULL;
        if (i < n_bound || (name && !name->sql))
            return true;
        if (!name || !name->values || (*only && *only != name))
            return false;
        *only = &sql->names[name - sql->names];
        return true;
    }
    for (i = 0; i < node->n; i++) {
        if (node->op == PY_OP_FOR && i == 1) {
            if (n_bound == PY_SQL_FILTERS_MAX)
                return false;
            bound[n_bound++] = node;
        }
        if (!take_only(sql, node->items[i], bound, n_bound, only))
            return false;
    }
    return true;
}

struct py_name *py_sql_only(struct py_sql *sql, const struct py_node *node)
{
    const struct py_node *bound[PY_SQL_FILTERS_MAX];
    struct py_name *only = NULL;

    return take_only(sql, node, bound, 0, &only) ? only : NULL;
}

/* Later names hide earlier ones, and a scope is searched from its beginning. */
int py_sql_constant(struct py_sql *sql, const struct py_node *node,
                    struct py_value *out)
{
    struct py_name turned[PY_SQL_NAMES_MAX];
    struct py_scope scope = { turned, sql->n_names };

    for (size_t i = 0; i < sql->n_names; i++)
        turned[i] = sql->names[sql->n_names - 1 - i];
    return py_eval_node(sql->expression, node, &scope, &sql->steps, out,
                        sql->flaw);
}

int py_sql_spend(struct py_sql *sql, const struct py_node *node)
{
    if (sql->out->truncated || sql->steps-- <= 0)
        return py_flaw_set(sql->flaw, node->at, "it is too long in SQL");
    return 0;
}

int py_sql_no_counterpart(struct py_sql *sql, const struct py_node *node)
{
    return py_flaw_set(
        sql->flaw, node->at,
        "this has no counterpart in SQL, so it cannot be a gate");
}

void py_sql_write(const struct py_value *value, struct buf *out)
{
    struct value literal = {
        .kind = value->kind == PY_REAL   ? VALUE_REAL
                : value->kind == PY_TEXT ? VALUE_TEXT
                                         : VALUE_INT,
        .integer = (int64_t)value->integer,
        .real = value->real,
        .text = value->text,
    };

    value_sql(&literal, out);
}

struct py_sql_type py_sql_type_of(const struct py_value *value)
{
    bool number = py_value_is_number(value);

    return (struct py_sql_type){ value->kind,
                                 number && py_value_number(value) >= 0,
                                 number ? fabs(py_value_number(value))
                                        : (double)INFINITY };
}

bool py_sql_literal(struct py_sql *sql, const struct py_value *value)
{
    bool below;

    if (value->kind == PY_LIST || value->kind == PY_NONE ||
        (value->kind == PY_REAL && !isfinite(value->real)) ||
        (value->kind == PY_INT && !py_value_fits(value)) ||
        (value->kind == PY_TEXT && strchr(value->text, '\'')))
        return false;
    below = value->kind != PY_TEXT && py_value_number(value) < 0;
    buf_str(sql->out, below ? "(" : "");
    py_sql_write(value, sql->out);
    buf_str(sql->out, below ? ")" : "");
    return true;
}
