/* For which parts of an expression Python may raise an error: a division by
 * zero, a root or logarithm of a number that has none, an item that a list does
 * not have. */
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_sql_internal.h"

enum sign {
    NOT_NEGATIVE,
    NOT_ZERO
};

static bool has_sign(const struct py_value *value, enum sign sign)
{
    if (!py_value_is_number(value))
        return false;
    return sign == NOT_ZERO ? py_value_number(value) != 0
                            : py_value_number(value) >= 0;
}

static bool name_has(const struct py_sql *sql, const char *text, enum sign sign)
{
    const struct py_name *name = py_sql_find(sql, text);

    if (!name || name->n_values == 0)
        return false;
    for (size_t i = 0; i < name->n_values; i++)
        if (!has_sign(&name->values[i], sign))
            return false;
    return true;
}

static bool has(struct py_sql *sql, const struct py_node *node, enum sign sign);

static bool all_have(struct py_sql *sql, const struct py_node *node,
                     enum sign sign)
{
    for (size_t i = 0; i < node->n; i++)
        if (!has(sql, node->items[i], sign))
            return false;
    return node->n > 0;
}

/* A sum of numbers that are not negative is not zero if one of them is not. */
static bool sum_has(struct py_sql *sql, const struct py_node *node,
                    enum sign sign)
{
    return all_have(sql, node, NOT_NEGATIVE) &&
           (sign == NOT_NEGATIVE || has(sql, node->items[0], NOT_ZERO) ||
            has(sql, node->items[1], NOT_ZERO));
}

static bool call_has(struct py_sql *sql, const struct py_node *node,
                     enum sign sign)
{
    if (strcmp(node->text, "abs") == 0)
        return sign == NOT_NEGATIVE || all_have(sql, node, NOT_ZERO);
    if (strcmp(node->text, "min") == 0 || strcmp(node->text, "max") == 0)
        return all_have(sql, node, sign);
    return false;
}

/* Whether it is known of all its values. */
static bool has(struct py_sql *sql, const struct py_node *node, enum sign sign)
{
    struct py_value value = { .kind = PY_INT };

    if (py_sql_is_constant(sql, node))
        return py_sql_constant(sql, node, &value) == 0 &&
               has_sign(&value, sign);
    switch (node->op) {
    case PY_OP_NAME:
        return name_has(sql, node->text, sign);
    case PY_OP_MULTIPLY:
    case PY_OP_DIVIDE:
        return all_have(sql, node, sign);
    case PY_OP_FLOOR_DIVIDE:
    case PY_OP_MODULO:
        return sign == NOT_NEGATIVE && all_have(sql, node, sign);
    case PY_OP_POWER:
        return has(sql, node->items[0], sign) &&
               has(sql, node->items[1], NOT_NEGATIVE);
    case PY_OP_ADD:
        return sum_has(sql, node, sign);
    case PY_OP_PLUS:
        return has(sql, node->items[0], sign);
    case PY_OP_NEGATE:
        return sign == NOT_ZERO && has(sql, node->items[0], sign);
    case PY_OP_CALL:
        return call_has(sql, node, sign);
    default:
        return false;
    }
}

static bool call_fails(struct py_sql *sql, const struct py_node *node)
{
    static const char *const safe[] = {
        "abs", "all", "any",  "bool",   "ceil",  "float", "floor",   "gcd",
        "int", "len", "list", "max",    "min",   "prod",  "range",   "round",
        "set", "str", "sum",  "sorted", "trunc", "tuple", "np.ceil", "np.floor",
    };

    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
        if (strcmp(node->text, safe[i]) == 0)
            return false;
    return !all_have(sql, node, NOT_NEGATIVE) ||
           (strncmp(node->text, "log", 3) == 0 &&
            !all_have(sql, node, NOT_ZERO));
}

static bool itself_fails(struct py_sql *sql, const struct py_node *node)
{
    switch (node->op) {
    case PY_OP_DIVIDE:
    case PY_OP_FLOOR_DIVIDE:
    case PY_OP_MODULO:
        return !has(sql, node->items[1], NOT_ZERO);
    case PY_OP_POWER:
        return !all_have(sql, node, NOT_NEGATIVE);
    case PY_OP_SHIFT_LEFT:
    case PY_OP_SHIFT_RIGHT:
        return !has(sql, node->items[1], NOT_NEGATIVE);
    case PY_OP_INDEX: /* of ProblemSize it is written only if it is there */
        return node->items[0]->op != PY_OP_NAME ||
               !py_sql_is_constant(sql, node->items[1]);
    case PY_OP_SLICE:
        return true;
    case PY_OP_CALL:
        return call_fails(sql, node);
    default:
        return false;
    }
}

/* ---- "for" */

/* Whether all items of a list have it. */
static bool list_has(struct py_sql *sql, const struct py_node *list,
                     enum sign sign)
{
    struct py_value value = { .kind = PY_INT };

    if (!py_sql_is_constant(sql, list))
        return list->op == PY_OP_LIST && all_have(sql, list, sign);
    if (py_sql_constant(sql, list, &value) < 0 || value.kind != PY_LIST)
        return false;
    for (size_t i = 0; i < value.n; i++)
        if (!has_sign(&value.items[i], sign))
            return false;
    return true;
}

/* The variable stands for numbers with the signs of the items. */
static bool for_fails(struct py_sql *sql, const struct py_node *node)
{
    static const struct py_value one = { .kind = PY_INT, .integer = 1 };
    static const struct py_value less = { .kind = PY_INT, .integer = -1 };
    bool negative = !list_has(sql, node->items[0], NOT_NEGATIVE);
    bool zero = !list_has(sql, node->items[0], NOT_ZERO);
    struct py_value signs[2] = { negative ? less : one, { .kind = PY_INT } };
    bool fails = py_sql_fails(sql, node->items[0]);

    if (sql->n_names == PY_SQL_NAMES_MAX)
        return true;
    sql->names[sql->n_names++] = (struct py_name){ .name = node->text,
                                                   .sql = node->text,
                                                   .values = signs,
                                                   .n_values = zero ? 2 : 1 };
    fails = fails || py_sql_fails(sql, node->items[1]);
    sql->n_names--;
    return fails;
}

bool py_sql_fails(struct py_sql *sql, const struct py_node *node)
{
    struct py_value value;

    if (py_sql_is_constant(sql, node))
        return py_sql_constant(sql, node, &value) < 0;
    if (node->op == PY_OP_FOR)
        return for_fails(sql, node);
    if (itself_fails(sql, node))
        return true;
    for (size_t i = 0; i < node->n; i++)
        if (py_sql_fails(sql, node->items[i]))
            return true;
    return false;
}
