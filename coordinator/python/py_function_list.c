/* Functions of lists. */
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/python/py_function.h"

#define SET_MOST 1000 /* items; it takes the square of that */

/* The items in a new form, which also the list of a generator has. */
static int in_form(const struct py_call *call, enum py_form form,
                   struct py_value *out)
{
    if (call->n == 0)
        *out = py_value_list(form, NULL, 0);
    else if (py_call_list(call))
        *out = py_value_list(form, call->arguments->items, call->arguments->n);
    else
        return py_call_wrong(call);
    return 0;
}

static int call_list(const struct py_call *call, struct py_value *out)
{
    return in_form(call, PY_FORM_LIST, out);
}

static int call_tuple(const struct py_call *call, struct py_value *out)
{
    return in_form(call, PY_FORM_TUPLE, out);
}

static int call_len(const struct py_call *call, struct py_value *out)
{
    const struct py_value *value = call->arguments;

    if (call->n == 1 && value->kind == PY_TEXT)
        *out = py_value_int((py_int)py_text_length(value->text));
    else if (py_call_list(call) && value->form != PY_FORM_ONCE)
        *out = py_value_int((py_int)value->n);
    else
        return py_call_wrong(call);
    return 0;
}

static int call_reversed(const struct py_call *call, struct py_value *out)
{
    struct py_value *items;
    size_t n;

    if (!py_call_list(call) || call->arguments->form == PY_FORM_SET ||
        call->arguments->form == PY_FORM_ONCE)
        return py_call_wrong(call);
    n = call->arguments->n;
    if (py_run_list(call->run, call->node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = call->arguments->items[n - 1 - i];
    *out = py_value_list(PY_FORM_ONCE, items, n);
    return 0;
}

static bool is_in(const struct py_value *items, size_t n,
                  const struct py_value *value)
{
    for (size_t i = 0; i < n; i++)
        if (py_value_equal(&items[i], value))
            return true;
    return false;
}

static int set_place(const struct py_value *value)
{
    return value->kind == PY_NONE   ? 3
           : value->kind == PY_LIST ? 2
                                    : value->kind == PY_TEXT;
}

/* Numbers, then texts, then tuples, then None. */
static int by_set_order(const void *a, const void *b)
{
    const struct py_value *x = a, *y = b;
    int order = 0;

    if (py_value_order(x, y, &order))
        return order == PY_VALUE_UNORDERED ? 0 : order;
    if (x->kind != PY_LIST || y->kind != PY_LIST)
        return set_place(x) - set_place(y);
    for (size_t i = 0; i < x->n && i < y->n; i++) {
        order = by_set_order(&x->items[i], &y->items[i]);
        if (order)
            return order;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static bool is_hashable(const struct py_value *value)
{
    return value->kind != PY_LIST ||
           (value->form != PY_FORM_LIST && value->form != PY_FORM_SET);
}

/* Python's has no order; here equal sets are equal lists. */
static int call_set(const struct py_call *call, struct py_value *out)
{
    struct py_value *items;
    size_t n = 0;

    if (call->n == 0) {
        *out = py_value_list(PY_FORM_SET, NULL, 0);
        return 0;
    }
    if (!py_call_list(call) || call->arguments->n > SET_MOST)
        return py_call_wrong(call);
    if (py_run_list(call->run, call->node->at, call->arguments->n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < call->arguments->n; i++) {
        const struct py_value *item = &call->arguments->items[i];

        if (!is_hashable(item))
            return py_call_wrong(call);
        if (!is_in(items, n, item))
            items[n++] = *item;
    }
    if (n > 1)
        qsort(items, n, sizeof(*items), by_set_order);
    *out = py_value_list(PY_FORM_SET, items, n);
    return 0;
}

static int by_order(const void *a, const void *b)
{
    int order = 0;

    py_value_order(a, b, &order);
    return order == PY_VALUE_UNORDERED ? 0 : order;
}

static bool is_ordered(const struct py_value *items, size_t n)
{
    int order;

    for (size_t i = 0; i < n; i++)
        if (!py_value_order(&items[0], &items[i], &order))
            return false;
    return true;
}

static int call_sorted(const struct py_call *call, struct py_value *out)
{
    struct py_value *items;
    size_t n;

    if (!py_call_list(call) ||
        !is_ordered(call->arguments->items, call->arguments->n))
        return py_call_wrong(call);
    n = call->arguments->n;
    if (py_run_list(call->run, call->node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = call->arguments->items[i];
    if (n > 1)
        qsort(items, n, sizeof(*items), by_order);
    *out = py_value_list(PY_FORM_LIST, items, n);
    return 0;
}

/* How many numbers it has; one more than steps are left is enough to know. */
static size_t range_length(py_int from, py_int to, py_int step)
{
    py_int span, n;

    if (__builtin_sub_overflow(to, from, &span))
        return PY_EXPRESSION_STEPS;
    if (span == 0 || (span > 0) != (step > 0))
        return 0;
    n = (span - (span > 0 ? 1 : -1)) / step + 1;
    return n > PY_EXPRESSION_STEPS ? PY_EXPRESSION_STEPS : (size_t)n;
}

static int call_range(const struct py_call *call, struct py_value *out)
{
    py_int from = 0, to, step = 1;
    struct py_value *items;
    size_t n;

    for (size_t i = 0; i < call->n; i++)
        if (!py_value_is_whole(&call->arguments[i]))
            return py_call_wrong(call);
    if (call->n < 1 || call->n > 3)
        return py_call_wrong(call);
    to = call->arguments[call->n > 1].integer;
    if (call->n > 1)
        from = call->arguments[0].integer;
    if (call->n > 2)
        step = call->arguments[2].integer;
    if (step == 0)
        return py_call_wrong(call);
    n = range_length(from, to, step);
    if (py_run_list(call->run, call->node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = py_value_int(from + (py_int)i * step);
    *out = py_value_list(PY_FORM_RANGE, items, n);
    return 0;
}

/* sum(LIST), sum(LIST, START) */
static int call_sum(const struct py_call *call, struct py_value *out)
{
    *out = py_value_int(0);
    if (call->n < 1 || call->n > 2 || call->arguments->kind != PY_LIST)
        return py_call_wrong(call);
    if (call->n == 2)
        *out = call->arguments[1];
    for (size_t i = 0; i < call->arguments->n; i++)
        if (py_arithmetic(PY_OP_ADD, out, &call->arguments->items[i],
                          call->node->at, out, call->flaw) < 0)
            return ERR_INPUT;
    return 0;
}

static int call_prod(const struct py_call *call, struct py_value *out)
{
    *out = py_value_int(1);
    if (!py_call_list(call))
        return py_call_wrong(call);
    for (size_t i = 0; i < call->arguments->n; i++)
        if (py_arithmetic(PY_OP_MULTIPLY, out, &call->arguments->items[i],
                          call->node->at, out, call->flaw) < 0)
            return ERR_INPUT;
    return 0;
}

static int call_all(const struct py_call *call, struct py_value *out)
{
    *out = py_value_bool(true);
    if (!py_call_list(call))
        return py_call_wrong(call);
    for (size_t i = 0; i < call->arguments->n && out->integer; i++)
        out->integer = py_value_truth(&call->arguments->items[i]);
    return 0;
}

static int call_any(const struct py_call *call, struct py_value *out)
{
    *out = py_value_bool(false);
    if (!py_call_list(call))
        return py_call_wrong(call);
    for (size_t i = 0; i < call->arguments->n && !out->integer; i++)
        out->integer = py_value_truth(&call->arguments->items[i]);
    return 0;
}

/* The first of the extremes, as in Python. */
static int call_extreme(const struct py_call *call, int side,
                        struct py_value *out)
{
    bool list = py_call_list(call);
    const struct py_value *items =
        list ? call->arguments->items : call->arguments;
    size_t n = list ? call->arguments->n : call->n;
    int order;

    if (n == 0 || (!list && n < 2) || !is_ordered(items, n))
        return py_call_wrong(call);
    *out = items[0];
    for (size_t i = 1; i < n; i++)
        if (py_value_order(&items[i], out, &order) && order == side)
            *out = items[i];
    return 0;
}

static int call_max(const struct py_call *call, struct py_value *out)
{
    return call_extreme(call, 1, out);
}

static int call_min(const struct py_call *call, struct py_value *out)
{
    return call_extreme(call, -1, out);
}

static int call_divmod(const struct py_call *call, struct py_value *out)
{
    struct py_value *pair;

    if (call->n != 2 || py_run_list(call->run, call->node->at, 2, &pair) < 0)
        return py_call_wrong(call);
    *out = py_value_list(PY_FORM_TUPLE, pair, 2);
    return py_arithmetic(PY_OP_FLOOR_DIVIDE, &call->arguments[0],
                         &call->arguments[1], call->node->at, &pair[0],
                         call->flaw) < 0
               ? ERR_INPUT
               : py_arithmetic(PY_OP_MODULO, &call->arguments[0],
                               &call->arguments[1], call->node->at, &pair[1],
                               call->flaw);
}

const struct py_function py_list_functions[] = {
    { "all", call_all, "i" },      { "any", call_any, "i" },
    { "divmod", call_divmod, "" }, { "len", call_len, "" },
    { "list", call_list, "i" },    { "max", call_max, "i" },
    { "min", call_min, "i" },      { "prod", call_prod, "m" },
    { "range", call_range, "" },   { "reversed", call_reversed, "i" },
    { "set", call_set, "i" },      { "sorted", call_sorted, "i" },
    { "sum", call_sum, "" },       { "tuple", call_tuple, "i" },
    { NULL, NULL, NULL },
};
