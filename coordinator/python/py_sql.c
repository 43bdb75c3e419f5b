#include "coordinator/python/py_sql.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_sql_internal.h"

static int put_constant(struct py_sql *sql, const struct py_node *node,
                        struct py_sql_type *type)
{
    struct py_value value = { .kind = PY_INT };
    int rc = py_sql_constant(sql, node, &value);

    if (rc < 0)
        return rc;
    *type = py_sql_type_of(&value);
    return py_sql_literal(sql, &value) ? 0 : py_sql_no_counterpart(sql, node);
}

/* ---- operators */

static int put_name(struct py_sql *sql, const struct py_node *node,
                    struct py_sql_type *type)
{
    const struct py_name *name = py_sql_find(sql, node->text);

    if (!name)
        return py_flaw_set(sql->flaw, node->at, "there is no name '%s'",
                           node->text);
    if (!name->values)
        return py_sql_no_counterpart(sql, node);
    *type = py_sql_type_of(&name->values[0]);
    for (size_t i = 1; i < name->n_values; i++) {
        struct py_sql_type other = py_sql_type_of(&name->values[i]);

        if (other.kind == PY_REAL)
            type->kind = PY_REAL;
        type->positive = type->positive && other.positive;
        type->most = fmax(type->most, other.most);
    }
    buf_str(sql->out, name->sql);
    return 0;
}

int py_sql_operand(struct py_sql *sql, const struct py_node *node,
                   struct buf *text, struct py_sql_type *type)
{
    struct buf *out = sql->out;
    int rc;

    buf_init(text, PY_EXPRESSION_BYTES_MAX);
    sql->out = text;
    rc = py_sql_value(sql, node, type);
    sql->out = out;
    if (rc == 0 && text->truncated)
        rc = py_flaw_set(sql->flaw, node->at, "it is too long in SQL");
    return rc;
}

static bool is_whole(struct py_sql_type type)
{
    return type.kind == PY_INT || type.kind == PY_BOOL;
}

/* SQL's mod() has the sign of the first, and rounds nothing as Python's. */
#define REAL_MODULO                                                \
    "(mod(@, #) + iif(mod(@, #) <> 0 AND (# < 0) <> (mod(@, #) < " \
    "0), #, 0))"

/* How an operator is written: '@' and '#' stand for the operands.  'forward':
 * the second is not negative; a shift by less than 0 is an error in Python. */
static const char *form_of(enum py_op op, bool whole, bool positive,
                           bool forward)
{
    switch (op) {
    case PY_OP_ADD:
        return "(@ + #)";
    case PY_OP_SUBTRACT:
        return "(@ - #)";
    case PY_OP_MULTIPLY:
        return "(@ * #)";
    case PY_OP_DIVIDE:
        return "(1.0 * @ / #)";
    case PY_OP_FLOOR_DIVIDE:
        return !whole && positive ? "round((@ - mod(@, #)) / #)"
               : !whole           ? "round((@ - " REAL_MODULO ") / #)"
               : positive         ? "(@ / #)"
                                  : "CAST(floor(1.0 * @ / #) AS INTEGER)";
    case PY_OP_MODULO:
        return !whole && positive ? "mod(@, #)"
               : !whole           ? REAL_MODULO
               : positive         ? "(@ % #)"
                                  : "((@ % # + #) % #)";
    case PY_OP_POWER:
        return whole && positive ? "CAST(pow(@, #) AS INTEGER)" : "pow(@, #)";
    case PY_OP_BIT_AND:
        return whole ? "(@ & #)" : NULL;
    case PY_OP_BIT_OR:
        return whole ? "(@ | #)" : NULL;
    case PY_OP_BIT_XOR:
        return whole ? "((@ | #) - (@ & #))" : NULL;
    case PY_OP_SHIFT_LEFT:
        return whole && forward ? "(@ << #)" : NULL;
    case PY_OP_SHIFT_RIGHT:
        return whole && forward ? "(@ >> #)" : NULL;
    default:
        return NULL;
    }
}

static void put_form(struct buf *out, const char *form, const char *a,
                     const char *b)
{
    for (; *form; form++)
        if (*form == '@')
            buf_str(out, a);
        else if (*form == '#')
            buf_str(out, b);
        else
            buf_add(out, form, 1);
}

/* The most that the result may be, of whole numbers. */
static double most_of(enum py_op op, double a, double b)
{
    switch (op) {
    case PY_OP_ADD:
    case PY_OP_SUBTRACT:
        return a + b;
    case PY_OP_MULTIPLY:
        return a * b;
    case PY_OP_FLOOR_DIVIDE:
        return a + 1;
    case PY_OP_MODULO:
        return b;
    case PY_OP_POWER:
        return pow(fmax(a, 1), b);
    case PY_OP_SHIFT_LEFT:
        return a * exp2(b);
    case PY_OP_SHIFT_RIGHT:
        return a;
    default: /* the bits of both, and those of numbers below 0 */
        return 2 * fmax(a, b) + 1;
    }
}

/* SQL computes whole numbers beyond 64 bits as reals, shifts bits out, and
 * rounds some down by way of a real. */
static bool is_exact(enum py_op op, const struct py_sql_type *a,
                     const struct py_sql_type *b)
{
    double result = most_of(op, a->most, b->most);
    bool positive = a->positive && b->positive;

    if (op == PY_OP_ADD || op == PY_OP_SUBTRACT || op == PY_OP_MULTIPLY ||
        op == PY_OP_DIVIDE)
        return true;
    if (op == PY_OP_POWER)
        return result < PY_SQL_EXACT_END;
    return fmax(a->most, b->most) < (op == PY_OP_FLOOR_DIVIDE && !positive
                                         ? PY_SQL_EXACT_END
                                         : PY_SQL_WHOLE_END) &&
           (op != PY_OP_SHIFT_LEFT || result < PY_SQL_WHOLE_END);
}

/* The form of an operator, and what it gives; NULL if SQL has none. */
static const char *pair_form(enum py_op op, const struct py_sql_type *a,
                             const struct py_sql_type *b,
                             struct py_sql_type *type)
{
    bool whole = is_whole(*a) && is_whole(*b);
    bool positive = a->positive && b->positive;

    *type = (struct py_sql_type){ whole && op != PY_OP_DIVIDE &&
                                          (op != PY_OP_POWER || positive)
                                      ? PY_INT
                                      : PY_REAL,
                                  positive && op != PY_OP_SUBTRACT,
                                  whole && op != PY_OP_DIVIDE
                                      ? most_of(op, a->most, b->most)
                                      : (double)INFINITY };
    return a->kind == PY_TEXT || b->kind == PY_TEXT ||
                   (whole && !is_exact(op, a, b))
               ? NULL
               : form_of(op, whole, positive, b->positive);
}

static int put_pair(struct py_sql *sql, const struct py_node *node,
                    struct py_sql_type *type)
{
    struct py_sql_type a = PY_SQL_TRUTH, b = a;
    struct buf left, right;
    const char *form = NULL;
    int rc = py_sql_operand(sql, node->items[0], &left, &a);

    buf_init(&right, 0);
    if (rc == 0)
        rc = py_sql_operand(sql, node->items[1], &right, &b);
    if (rc == 0) {
        form = pair_form(node->op, &a, &b, type);
        rc = form ? 0 : py_sql_no_counterpart(sql, node);
    }
    if (form)
        put_form(sql->out, form, buf_text(&left), buf_text(&right));
    buf_fini(&left);
    buf_fini(&right);
    return rc;
}

static int put_prefixed(struct py_sql *sql, const struct py_node *node,
                        struct py_sql_type *type)
{
    int rc;

    buf_str(sql->out, node->op == PY_OP_INVERT   ? "(-1 - "
                      : node->op == PY_OP_NEGATE ? "(- "
                                                 : "(");
    rc = py_sql_value(sql, node->items[0], type);
    buf_str(sql->out, ")");
    if (rc < 0)
        return rc;
    if ((type->kind == PY_TEXT ||
         (node->op == PY_OP_INVERT && !is_whole(*type))))
        return py_sql_no_counterpart(sql, node);
    if (type->kind == PY_BOOL)
        type->kind = PY_INT;
    type->positive = type->positive && node->op == PY_OP_PLUS;
    type->most += node->op == PY_OP_INVERT;
    return 0;
}

static struct py_sql_type either(struct py_sql_type a, struct py_sql_type b)
{
    return (struct py_sql_type){ a.kind == b.kind             ? a.kind
                                 : is_whole(a) && is_whole(b) ? PY_INT
                                                              : PY_REAL,
                                 a.positive && b.positive,
                                 fmax(a.most, b.most) };
}

/* iif(CONDITION, A, B); texts and numbers do not mix.  iif() takes NULL for
 * false. */
static int put_choice(struct py_sql *sql, const struct py_node *condition,
                      const struct py_node *a, const struct py_node *b,
                      struct py_sql_type *type)
{
    struct py_sql_type first = PY_SQL_TRUTH, second = first;
    bool fails = py_sql_fails(sql, condition);
    int rc;

    buf_str(sql->out, fails ? "CASE " : "iif(");
    rc = py_sql_truth(sql, condition);
    buf_str(sql->out, fails ? " WHEN 1 THEN " : ", ");
    if (rc == 0)
        rc = py_sql_value(sql, a, &first);
    buf_str(sql->out, fails ? " WHEN 0 THEN " : ", ");
    if (rc == 0)
        rc = py_sql_value(sql, b, &second);
    buf_str(sql->out, fails ? " END" : ")");
    if (rc == 0 && (first.kind == PY_TEXT) != (second.kind == PY_TEXT))
        return py_sql_no_counterpart(sql, condition);
    if (rc == 0)
        *type = either(first, second);
    return rc;
}

/* "a or b" of values that are no truths has the value of one of them. */
static int put_joined(struct py_sql *sql, const struct py_node *node,
                      struct py_sql_type *type)
{
    bool truths = true;

    for (size_t i = 0; i < node->n; i++)
        truths = truths && (node->items[i]->op == PY_OP_COMPARE ||
                            node->items[i]->op == PY_OP_NOT);
    if (truths) {
        *type = PY_SQL_TRUTH;
        return py_sql_truth(sql, node);
    }
    if (node->n != 2)
        return py_sql_no_counterpart(sql, node);
    return node->op == PY_OP_OR
               ? put_choice(sql, node->items[0], node->items[0], node->items[1],
                            type)
               : put_choice(sql, node->items[0], node->items[1], node->items[0],
                            type);
}

/* An item of a list that has its items as names. */
static int put_item(struct py_sql *sql, const struct py_node *node,
                    struct py_sql_type *type)
{
    const struct py_node *list = node->items[0], *place = node->items[1];
    const struct py_name *name =
        list->op == PY_OP_NAME ? py_sql_find(sql, list->text) : NULL;
    struct py_value value = { .kind = PY_INT }, at = value;
    int rc;

    if (!name || !name->sql || name->value.kind != PY_LIST ||
        !py_sql_is_constant(sql, place))
        return py_sql_no_counterpart(sql, node);
    rc = py_sql_constant(sql, place, &at);
    if (rc == 0) /* its flaws are those of the list */
        rc = py_sql_constant(sql, node, &value);
    if (rc < 0)
        return rc;
    if (!py_value_is_number(&value))
        return py_sql_no_counterpart(sql, node);
    *type = py_sql_type_of(&value);
    buf_printf(sql->out, "%s%lld", name->sql,
               (long long)(at.integer < 0 ? at.integer + (py_int)name->value.n
                                          : at.integer));
    return 0;
}

/* ---- functions of numbers */

/* 'most': of the argument, from which on SQL rounds otherwise; SQL's log2() is
 * not exact for 2^29. */
static const struct function {
    const char *name, *form;
    bool whole;
    double most;
} functions[] = {
    { "abs", "abs(@)", false, (double)INFINITY },
    { "int", "CAST(@ AS INTEGER)", true, PY_SQL_WHOLE_END },
    { "trunc", "CAST(@ AS INTEGER)", true, PY_SQL_WHOLE_END },
    { "float", "CAST(@ AS REAL)", false, (double)INFINITY },
    { "ceil", "CAST(ceil(@) AS INTEGER)", true, PY_SQL_WHOLE_END },
    { "floor", "CAST(floor(@) AS INTEGER)", true, PY_SQL_WHOLE_END },
    { "np.ceil", "ceil(1.0 * @)", false, (double)INFINITY },
    { "np.floor", "floor(1.0 * @)", false, (double)INFINITY },
    { "log2", "log2(@)", false, 0x1p29 },
    { "sqrt", "sqrt(@)", false, (double)INFINITY },
};

static int put_known(struct py_sql *sql, const struct py_node *node,
                     const struct function *function, struct py_sql_type *type)
{
    struct py_sql_type argument = PY_SQL_TRUTH;
    bool absolute = function == functions;
    struct buf text;
    int rc = py_sql_operand(sql, node->items[0], &text, &argument);

    /* A real is not known to be small. */
    if (rc == 0 && (argument.kind == PY_TEXT ||
                    (is_whole(argument) && argument.most >= function->most)))
        rc = py_sql_no_counterpart(sql, node);
    if (rc == 0)
        put_form(sql->out, function->form, buf_text(&text), "");
    buf_fini(&text);
    *type = (struct py_sql_type){
        function->whole || (absolute && is_whole(argument)) ? PY_INT : PY_REAL,
        absolute || (argument.positive && function->whole),
        function->whole || absolute ? argument.most : (double)INFINITY
    };
    return rc;
}

static int put_function(struct py_sql *sql, const struct py_node *node,
                        struct py_sql_type *type)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(node->text, functions[i].name) == 0 && node->n == 1)
            return put_known(sql, node, &functions[i], type);
    return py_sql_no_counterpart(sql, node);
}

static int put_call(struct py_sql *sql, const struct py_node *node,
                    struct py_sql_type *type)
{
    struct py_node power = *node;

    if (strcmp(node->text, "bool") == 0 && node->n == 1) {
        *type = PY_SQL_TRUTH;
        return py_sql_truth(sql, node->items[0]);
    }
    if (strcmp(node->text, "pow") == 0 && node->n == 2) {
        power.op = PY_OP_POWER;
        return put_pair(sql, &power, type);
    }
    return py_sql_takes_list(node) ? py_sql_list_call(sql, node, type)
                                   : put_function(sql, node, type);
}

static int put_value(struct py_sql *sql, const struct py_node *node,
                     struct py_sql_type *type)
{
    switch (node->op) {
    case PY_OP_NAME:
        return put_name(sql, node, type);
    case PY_OP_OR:
    case PY_OP_AND:
        return put_joined(sql, node, type);
    case PY_OP_NOT:
    case PY_OP_COMPARE:
        *type = PY_SQL_TRUTH;
        return py_sql_truth(sql, node);
    case PY_OP_NEGATE:
    case PY_OP_PLUS:
    case PY_OP_INVERT:
        return put_prefixed(sql, node, type);
    case PY_OP_IF:
        return put_choice(sql, node->items[0], node->items[1], node->items[2],
                          type);
    case PY_OP_CALL:
        return put_call(sql, node, type);
    case PY_OP_INDEX:
        return put_item(sql, node, type);
    case PY_OP_LIST:
    case PY_OP_COLLECT:
    case PY_OP_SLICE:
    case PY_OP_FORMAT:
        return py_sql_no_counterpart(sql, node);
    default:
        return put_pair(sql, node, type);
    }
}

int py_sql_value(struct py_sql *sql, const struct py_node *node,
                 struct py_sql_type *type)
{
    size_t before = sql->out->len;
    int rc = py_sql_spend(sql, node);

    *type = PY_SQL_TRUTH;
    if (rc < 0)
        return rc;
    if (py_sql_is_constant(sql, node))
        return put_constant(sql, node, type);
    rc = put_value(sql, node, type);
    return rc < 0 ? py_sql_case(sql, node, before, type) : rc;
}

static int begin(struct py_expression *expression, const struct py_scope *scope,
                 struct buf *out, struct py_flaw *flaw, struct py_sql *sql)
{
    static const struct py_sql_writers writers = { py_sql_value, py_sql_truth };

    sql->writers = &writers;
    sql->expression = expression;
    sql->n_names = scope->n;
    sql->steps = sql->case_steps = PY_EXPRESSION_STEPS;
    sql->out = out;
    sql->flaw = flaw;
    if (scope->n + PY_SQL_FILTERS_MAX > PY_SQL_NAMES_MAX)
        return py_flaw_set(flaw, 0, "there are too many names");
    for (size_t i = 0; i < scope->n; i++)
        sql->names[i] = scope->names[scope->n - 1 - i];
    return 0;
}

static int put_all(struct py_expression *expression,
                   const struct py_scope *scope, bool truth, struct buf *out,
                   struct py_flaw *flaw)
{
    struct py_sql sql;
    struct py_sql_type type;
    int rc = begin(expression, scope, out, flaw, &sql);

    if (rc < 0)
        return rc;
    rc = truth ? py_sql_truth(&sql, expression->root)
               : py_sql_value(&sql, expression->root, &type);
    if (rc == 0 && out->truncated)
        rc = py_flaw_set(flaw, 0, "it is too long in SQL");
    return rc;
}

int py_sql_condition(struct py_expression *expression,
                     const struct py_scope *scope, struct buf *out,
                     struct py_flaw *flaw)
{
    return put_all(expression, scope, true, out, flaw);
}

int py_sql_expression(struct py_expression *expression,
                      const struct py_scope *scope, struct buf *out,
                      struct py_flaw *flaw)
{
    return put_all(expression, scope, false, out, flaw);
}

bool py_sql_may_fail(struct py_expression *expression,
                     const struct py_scope *scope)
{
    struct py_flaw flaw;
    struct py_sql sql;

    return begin(expression, scope, NULL, &flaw, &sql) < 0 ||
           py_sql_fails(&sql, expression->root);
}
