/* Functions over lists, and "in": the list is written out, item by item. */
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_sql_internal.h"

/* An item: a value, or a part of the expression with the variables of its "for"
 * clauses, which counts where all filters hold. */
struct item {
    const struct py_value *value; /* or NULL */
    const struct py_node *node;
    const struct py_node *filters[PY_SQL_FILTERS_MAX];
    size_t n_filters;
};

struct visit {
    struct py_sql *sql;
    int (*put)(struct visit *visit, const struct item *item);
    const struct py_node *value; /* of "in" */
    const char *between;         /* the sign between two items */
    size_t n;                    /* items so far */
    struct py_sql_type type;     /* of all items */
    enum {
        LARGEST,
        SUM,
        PRODUCT
    } joined; /* what the result is of them */
};

static int no_counterpart(struct py_sql *sql, const struct py_node *node)
{
    return py_flaw_set(sql->flaw, node->at,
                       "a list that depends on tunables so has no counterpart "
                       "in SQL");
}

static int put(struct visit *visit, const struct item *item)
{
    buf_str(visit->sql->out, visit->n++ ? visit->between : "");
    return visit->put(visit, item);
}

static int each_clause(struct visit *visit, const struct py_node *node,
                       struct item *item);

/* Every value of the variable. */
static int each_value(struct visit *visit, const struct py_node *node,
                      struct item *item)
{
    struct py_sql *sql = visit->sql;
    struct py_value list = { .kind = PY_INT };
    int rc;

    if (!py_sql_is_constant(sql, node->items[0]))
        return no_counterpart(sql, node);
    rc = py_sql_constant(sql, node->items[0], &list);
    if (rc == 0 && (list.kind != PY_LIST || sql->n_names == PY_SQL_NAMES_MAX))
        return no_counterpart(sql, node);
    sql->n_names++;
    for (size_t i = 0; rc == 0 && i < list.n; i++) {
        sql->names[sql->n_names - 1] =
            (struct py_name){ .name = node->text, .value = list.items[i] };
        rc = each_clause(visit, node->items[1], item);
    }
    sql->n_names--;
    return rc;
}

static int each_clause(struct visit *visit, const struct py_node *node,
                       struct item *item)
{
    struct py_value value = { .kind = PY_INT };
    int rc;

    if (node->op == PY_OP_FOR)
        return each_value(visit, node, item);
    if (node->op != PY_OP_FILTER) {
        item->node = node;
        return put(visit, item);
    }
    if (py_sql_is_constant(visit->sql, node->items[0])) {
        rc = py_sql_constant(visit->sql, node->items[0], &value);
        return rc < 0 || !py_value_truth(&value)
                   ? rc
                   : each_clause(visit, node->items[1], item);
    }
    if (item->n_filters == PY_SQL_FILTERS_MAX)
        return no_counterpart(visit->sql, node);
    item->filters[item->n_filters++] = node->items[0];
    rc = each_clause(visit, node->items[1], item);
    item->n_filters--;
    return rc;
}

static int each_item(struct visit *visit, const struct py_node *list)
{
    struct item item = { .n_filters = 0 };
    struct py_value value = { .kind = PY_INT };
    int rc = 0;

    if (list->op == PY_OP_COLLECT)
        return each_clause(visit, list->items[0], &item);
    if (list->op == PY_OP_LIST) {
        for (size_t i = 0; rc == 0 && i < list->n; i++) {
            item.node = list->items[i];
            rc = put(visit, &item);
        }
        return rc;
    }
    if (!py_sql_is_constant(visit->sql, list))
        return no_counterpart(visit->sql, list);
    rc = py_sql_constant(visit->sql, list, &value);
    if (rc == 0 && value.kind != PY_LIST)
        return no_counterpart(visit->sql, list);
    for (size_t i = 0; rc == 0 && i < value.n; i++) {
        item.value = &value.items[i];
        rc = put(visit, &item);
    }
    return rc;
}

/* ---- what is written of an item */

static int put_filters(struct visit *visit, const struct item *item)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < item->n_filters; i++) {
        buf_str(visit->sql->out, i ? " AND " : "");
        rc = visit->sql->writers->truth(visit->sql, item->filters[i]);
    }
    return rc;
}

static int put_truth(struct visit *visit, const struct item *item)
{
    if (!item->value)
        return visit->sql->writers->truth(visit->sql, item->node);
    buf_str(visit->sql->out, py_value_truth(item->value) ? "1" : "0");
    return 0;
}

static void join_type(struct visit *visit, struct py_sql_type type)
{
    if (type.kind == PY_REAL || type.kind == PY_TEXT)
        visit->type.kind = type.kind;
    visit->type.positive = visit->type.positive && type.positive;
    if (visit->joined == SUM)
        visit->type.most += type.most;
    else if (visit->joined == PRODUCT)
        visit->type.most *= fmax(type.most, 1);
    else
        visit->type.most = fmax(visit->type.most, type.most);
}

static int put_value(struct visit *visit, const struct item *item)
{
    struct py_sql_type type;
    int rc;

    if (item->value) {
        if (item->value->kind == PY_LIST)
            return py_flaw_set(visit->sql->flaw, 0,
                               "a list of lists has no counterpart in SQL");
        if (!py_sql_literal(visit->sql, item->value))
            return py_flaw_set(visit->sql->flaw, 0,
                               "this has no counterpart in SQL, so it cannot "
                               "be a gate");
        join_type(visit, py_sql_type_of(item->value));
        return 0;
    }
    rc = visit->sql->writers->value(visit->sql, item->node, &type);
    join_type(visit, type);
    return rc;
}

static int put_any(struct visit *visit, const struct item *item)
{
    int rc;

    buf_str(visit->sql->out, "(");
    rc = put_filters(visit, item);
    buf_str(visit->sql->out, item->n_filters ? " AND " : "");
    if (rc == 0)
        rc = put_truth(visit, item);
    buf_str(visit->sql->out, ")");
    return rc;
}

static int put_all(struct visit *visit, const struct item *item)
{
    int rc;

    buf_str(visit->sql->out, item->n_filters ? "(NOT (" : "(");
    rc = put_filters(visit, item);
    buf_str(visit->sql->out, item->n_filters ? ") OR " : "");
    if (rc == 0)
        rc = put_truth(visit, item);
    buf_str(visit->sql->out, ")");
    return rc;
}

static int put_term(struct visit *visit, const struct item *item)
{
    int rc;

    buf_str(visit->sql->out, item->n_filters ? "iif(" : "");
    rc = put_filters(visit, item);
    buf_str(visit->sql->out, item->n_filters ? ", " : "");
    if (rc == 0)
        rc = put_value(visit, item);
    buf_str(visit->sql->out, item->n_filters ? ", 0)" : "");
    return rc;
}

static int put_count(struct visit *visit, const struct item *item)
{
    int rc;

    buf_str(visit->sql->out, item->n_filters ? "(" : "1");
    rc = put_filters(visit, item);
    buf_str(visit->sql->out, item->n_filters ? ")" : "");
    return rc;
}

static int put_plain(struct visit *visit, const struct item *item)
{
    if (item->n_filters)
        return no_counterpart(visit->sql, item->filters[0]);
    return put_value(visit, item);
}

static int put_equal(struct visit *visit, const struct item *item)
{
    struct py_sql_type type;
    int rc;

    buf_str(visit->sql->out, "(");
    rc = put_filters(visit, item);
    buf_str(visit->sql->out, item->n_filters ? " AND (" : "(");
    if (rc == 0)
        rc = visit->sql->writers->value(visit->sql, visit->value, &type);
    buf_str(visit->sql->out, " = ");
    if (rc == 0)
        rc = put_value(visit, item);
    buf_str(visit->sql->out, "))");
    return rc;
}

/* ---- functions */

static const struct function {
    const char *name;
    int (*put)(struct visit *visit, const struct item *item);
    const char *begin, *between, *empty; /* 'empty': NULL is an error */
    enum py_kind kind;                   /* PY_LIST: that of the items */
} functions[] = {
    { "any", put_any, "(", " OR ", "0", PY_BOOL },
    { "all", put_all, "(", " AND ", "1", PY_BOOL },
    { "sum", put_term, "(", " + ", "0", PY_LIST },
    { "prod", put_plain, "(", " * ", "1", PY_LIST },
    { "len", put_count, "(", " + ", "0", PY_INT },
    { "max", put_plain, "max(", ", ", NULL, PY_LIST },
    { "min", put_plain, "min(", ", ", NULL, PY_LIST },
};

static const struct function *function_of(const struct py_node *call)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(functions[i].name, call->text) == 0)
            return &functions[i];
    return NULL;
}

bool py_sql_takes_list(const struct py_node *call)
{
    return function_of(call) != NULL;
}

int py_sql_list_call(struct py_sql *sql, const struct py_node *call,
                     struct py_sql_type *type)
{
    const struct function *function = function_of(call);
    struct py_node arguments = *call;
    struct buf *out = sql->out, text;
    struct visit visit = { .sql = sql,
                           .put = function->put,
                           .between = function->between,
                           .joined = function->put == put_term ? SUM
                                     : strcmp(function->name, "prod") == 0
                                         ? PRODUCT
                                         : LARGEST,
                           .type = { PY_INT, true, 1 } };
    bool each = function->kind == PY_BOOL ||
                (call->n > 0 && call->items[0]->op == PY_OP_COLLECT);
    int rc;

    /* Python goes from item to item, and SQL would do without the order. */
    if (each && py_sql_fails(sql, call))
        return py_sql_no_counterpart(sql, call);
    arguments.op = PY_OP_LIST;
    buf_init(&text, PY_EXPRESSION_BYTES_MAX);
    sql->out = &text;
    rc = each_item(&visit, call->n == 1 ? call->items[0] : &arguments);
    sql->out = out;
    /* SQL's max() of one value is an aggregate. */
    if (rc == 0 && (text.truncated || (visit.n == 0 && !function->empty)))
        rc = no_counterpart(sql, call);
    if (rc == 0 && visit.n == 0)
        buf_str(out, function->empty);
    else if (rc == 0)
        buf_printf(out, "%s%s)",
                   visit.n == 1 && !function->empty ? "(" : function->begin,
                   buf_text(&text));
    buf_fini(&text);
    *type = visit.type;
    if (function->kind != PY_LIST)
        *type =
            (struct py_sql_type){ function->kind, true, (double)visit.n + 1 };
    return rc;
}

int py_sql_list_has(struct py_sql *sql, const struct py_node *value,
                    const struct py_node *list)
{
    struct buf *out = sql->out, text;
    struct visit visit = {
        .sql = sql, .put = put_equal, .value = value, .between = " OR "
    };
    int rc;

    buf_init(&text, PY_EXPRESSION_BYTES_MAX);
    sql->out = &text;
    rc = each_item(&visit, list);
    sql->out = out;
    if (rc == 0 && text.truncated)
        rc = py_flaw_set(sql->flaw, list->at, "it is too long in SQL");
    if (rc == 0)
        buf_printf(out, visit.n ? "(%s)" : "0", buf_text(&text));
    buf_fini(&text);
    return rc;
}
