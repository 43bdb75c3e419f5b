#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_internal.h"

#define DIGITS_MOST 22                  /* of round() */
#define WHOLE_END 9223372036854775808.0 /* 2^63 */

struct call {
    struct py_run *run;
    const struct py_node *node;
    const struct py_value *arguments;
    size_t n;
    struct py_flaw *flaw;
};

typedef int function_fn(const struct call *call, struct py_value *out);

static int wrong(const struct call *call)
{
    return py_flaw_set(call->flaw, call->node->at,
                       "%s() does not take such arguments", call->node->text);
}

/* The only argument, which is a list. */
static bool one_list(const struct call *call)
{
    return call->n == 1 && call->arguments[0].kind == PY_LIST;
}

static bool one_number(const struct call *call)
{
    return call->n == 1 && py_value_is_number(&call->arguments[0]);
}

static int whole_of(const struct call *call, double real, struct py_value *out)
{
    if (isnan(real) || real < -WHOLE_END || real >= WHOLE_END)
        return py_flaw_set(call->flaw, call->node->at,
                           "the result is beyond 64 bits");
    *out = py_value_int((int64_t)real);
    return 0;
}

static int call_abs(const struct call *call, struct py_value *out)
{
    const struct py_value *value = call->arguments;

    if (!one_number(call))
        return wrong(call);
    if (value->kind == PY_REAL) {
        *out = py_value_real(fabs(value->real));
        return 0;
    }
    *out = py_value_int(value->integer < 0 ? -value->integer : value->integer);
    return value->integer == INT64_MIN ? whole_of(call, INFINITY, out) : 0;
}

static int call_rounded(const struct call *call, double (*round)(double),
                        struct py_value *out)
{
    const struct py_value *value = call->arguments;

    if (!one_number(call))
        return wrong(call);
    if (value->kind == PY_REAL)
        return whole_of(call, round(value->real), out);
    *out = py_value_int(value->integer);
    return 0;
}

static int call_ceil(const struct call *call, struct py_value *out)
{
    return call_rounded(call, ceil, out);
}

static int call_floor(const struct call *call, struct py_value *out)
{
    return call_rounded(call, floor, out);
}

static int call_int(const struct call *call, struct py_value *out)
{
    return call_rounded(call, trunc, out);
}

/* round(x, DIGITS): printf() rounds what the bits are, as Python does. */
static int call_round_to(const struct call *call, struct py_value *out)
{
    const struct py_value *value = &call->arguments[0];
    const struct py_value *digits = &call->arguments[1];
    char text[DBL_MAX_10_EXP + DIGITS_MOST + 10];

    if (!py_value_is_number(value) || digits->kind != PY_INT ||
        digits->integer < 0 || digits->integer > DIGITS_MOST)
        return wrong(call);
    if (value->kind != PY_REAL) {
        *out = py_value_int(value->integer);
        return 0;
    }
    snprintf(text, sizeof(text), "%.*f", (int)digits->integer, value->real);
    *out = py_value_real(strtod(text, NULL));
    return 0;
}

/* To the even neighbour, as rint() does by default. */
static int call_round(const struct call *call, struct py_value *out)
{
    return call->n == 2 ? call_round_to(call, out)
                        : call_rounded(call, rint, out);
}

static int call_float(const struct call *call, struct py_value *out)
{
    if (!one_number(call))
        return wrong(call);
    *out = py_value_real(py_value_number(call->arguments));
    return 0;
}

static int call_fabs(const struct call *call, struct py_value *out)
{
    if (!one_number(call))
        return wrong(call);
    *out = py_value_real(fabs(py_value_number(call->arguments)));
    return 0;
}

static int call_exp(const struct call *call, struct py_value *out)
{
    if (!one_number(call))
        return wrong(call);
    *out = py_value_real(exp(py_value_number(call->arguments)));
    return isinf(out->real) && isfinite(py_value_number(call->arguments))
               ? py_flaw_set(call->flaw, call->node->at,
                             "the result is too large")
               : 0;
}

static bool is_above_0(const struct py_value *value)
{
    return py_value_is_number(value) && py_value_number(value) > 0;
}

static int call_log10(const struct call *call, struct py_value *out)
{
    if (call->n != 1 || !is_above_0(call->arguments))
        return wrong(call);
    *out = py_value_real(log10(py_value_number(call->arguments)));
    return 0;
}

/* log(x), log(x, BASE) */
static int call_log(const struct call *call, struct py_value *out)
{
    double base;

    if (call->n < 1 || call->n > 2 || !is_above_0(call->arguments) ||
        !is_above_0(&call->arguments[call->n - 1]))
        return wrong(call);
    base = call->n == 2 ? log(py_value_number(&call->arguments[1])) : 1;
    if (base == 0)
        return py_flaw_set(call->flaw, call->node->at, "division by zero");
    *out = py_value_real(log(py_value_number(call->arguments)) / base);
    return 0;
}

static int call_gcd(const struct call *call, struct py_value *out)
{
    uint64_t divisor = 0;

    for (size_t i = 0; i < call->n; i++) {
        const struct py_value *value = &call->arguments[i];
        uint64_t rest = (uint64_t)value->integer;

        if (value->kind != PY_INT && value->kind != PY_BOOL)
            return wrong(call);
        if (value->integer < 0)
            rest = -rest;
        while (rest) {
            uint64_t next = divisor % rest;

            divisor = rest;
            rest = next;
        }
    }
    *out = py_value_int((int64_t)divisor);
    return divisor > INT64_MAX ? whole_of(call, INFINITY, out) : 0;
}

static int call_log2(const struct call *call, struct py_value *out)
{
    if (!one_number(call) || !(py_value_number(call->arguments) > 0))
        return wrong(call);
    *out = py_value_real(log2(py_value_number(call->arguments)));
    return 0;
}

static int call_sqrt(const struct call *call, struct py_value *out)
{
    if (!one_number(call) || !(py_value_number(call->arguments) >= 0))
        return wrong(call);
    *out = py_value_real(sqrt(py_value_number(call->arguments)));
    return 0;
}

static int call_bool(const struct call *call, struct py_value *out)
{
    if (call->n > 1)
        return wrong(call);
    *out = py_value_bool(call->n == 1 && py_value_truth(call->arguments));
    return 0;
}

static int call_pow(const struct call *call, struct py_value *out)
{
    return call->n == 2 ? py_arithmetic(PY_OP_POWER, &call->arguments[0],
                                        &call->arguments[1], call->node->at,
                                        out, call->flaw)
                        : wrong(call);
}

static int call_len(const struct call *call, struct py_value *out)
{
    if (call->n == 1 && call->arguments->kind == PY_TEXT)
        *out = py_value_int((int64_t)strlen(call->arguments->text));
    else if (one_list(call))
        *out = py_value_int((int64_t)call->arguments->n);
    else
        return wrong(call);
    return 0;
}

static int call_list(const struct call *call, struct py_value *out)
{
    if (call->n == 0)
        *out = (struct py_value){ .kind = PY_LIST };
    else if (one_list(call))
        *out = *call->arguments;
    else
        return wrong(call);
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
    return value->kind == PY_LIST ? 2 : value->kind == PY_TEXT;
}

/* Numbers, then texts, then tuples. */
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

/* Python's has no order; here equal sets are equal lists. */
static int call_set(const struct call *call, struct py_value *out)
{
    struct py_value *items;
    size_t n = 0;

    if (!one_list(call) || call->arguments->n > 1000)
        return call->n == 0 ? call_list(call, out) : wrong(call);
    if (py_run_list(call->run, call->node->at, call->arguments->n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < call->arguments->n; i++)
        if (!is_in(items, n, &call->arguments->items[i]))
            items[n++] = call->arguments->items[i];
    if (n > 1)
        qsort(items, n, sizeof(*items), by_set_order);
    *out = (struct py_value){ .kind = PY_LIST, .items = items, .n = n };
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

static int call_sorted(const struct call *call, struct py_value *out)
{
    struct py_value *items;
    size_t n;

    if (!one_list(call) ||
        !is_ordered(call->arguments->items, call->arguments->n))
        return wrong(call);
    n = call->arguments->n;
    if (py_run_list(call->run, call->node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = call->arguments->items[i];
    if (n > 1)
        qsort(items, n, sizeof(*items), by_order);
    *out = (struct py_value){ .kind = PY_LIST, .items = items, .n = n };
    return 0;
}

static int call_range(const struct call *call, struct py_value *out)
{
    int64_t from = 0, to, step = 1, span;
    struct py_value *items;
    size_t n = 0;

    for (size_t i = 0; i < call->n; i++)
        if (call->arguments[i].kind == PY_REAL ||
            !py_value_is_number(&call->arguments[i]))
            return wrong(call);
    if (call->n < 1 || call->n > 3)
        return wrong(call);
    to = call->arguments[call->n > 1].integer;
    if (call->n > 1)
        from = call->arguments[0].integer;
    if (call->n > 2)
        step = call->arguments[2].integer;
    if (step == 0 || step == INT64_MIN ||
        __builtin_sub_overflow(to, from, &span))
        return wrong(call);
    if (span != 0 && (span > 0) == (step > 0))
        n = (size_t)((span - (span > 0 ? 1 : -1)) / step) + 1;
    if (py_run_list(call->run, call->node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = py_value_int(from + (int64_t)i * step);
    *out = (struct py_value){ .kind = PY_LIST, .items = items, .n = n };
    return 0;
}

static int call_sum(const struct call *call, struct py_value *out)
{
    *out = py_value_int(0);
    if (!one_list(call))
        return wrong(call);
    for (size_t i = 0; i < call->arguments->n; i++)
        if (py_arithmetic(PY_OP_ADD, out, &call->arguments->items[i],
                          call->node->at, out, call->flaw) < 0)
            return ERR_INPUT;
    return 0;
}

static int call_prod(const struct call *call, struct py_value *out)
{
    *out = py_value_int(1);
    if (!one_list(call))
        return wrong(call);
    for (size_t i = 0; i < call->arguments->n; i++)
        if (py_arithmetic(PY_OP_MULTIPLY, out, &call->arguments->items[i],
                          call->node->at, out, call->flaw) < 0)
            return ERR_INPUT;
    return 0;
}

static int call_all(const struct call *call, struct py_value *out)
{
    *out = py_value_bool(true);
    if (!one_list(call))
        return wrong(call);
    for (size_t i = 0; i < call->arguments->n && out->integer; i++)
        out->integer = py_value_truth(&call->arguments->items[i]);
    return 0;
}

static int call_any(const struct call *call, struct py_value *out)
{
    *out = py_value_bool(false);
    if (!one_list(call))
        return wrong(call);
    for (size_t i = 0; i < call->arguments->n && !out->integer; i++)
        out->integer = py_value_truth(&call->arguments->items[i]);
    return 0;
}

/* The first of the extremes, as in Python. */
static int call_extreme(const struct call *call, int side, struct py_value *out)
{
    bool list = one_list(call);
    const struct py_value *items =
        list ? call->arguments->items : call->arguments;
    size_t n = list ? call->arguments->n : call->n;
    int order;

    if (n == 0 || (!list && n < 2) || !is_ordered(items, n))
        return wrong(call);
    *out = items[0];
    for (size_t i = 1; i < n; i++)
        if (py_value_order(&items[i], out, &order) && order == side)
            *out = items[i];
    return 0;
}

static int call_max(const struct call *call, struct py_value *out)
{
    return call_extreme(call, 1, out);
}

static int call_min(const struct call *call, struct py_value *out)
{
    return call_extreme(call, -1, out);
}

static const struct {
    const char *name;
    function_fn *fn;
} functions[] = {
    { "abs", call_abs },     { "all", call_all },     { "any", call_any },
    { "bool", call_bool },   { "ceil", call_ceil },   { "exp", call_exp },
    { "fabs", call_fabs },   { "float", call_float }, { "floor", call_floor },
    { "gcd", call_gcd },     { "int", call_int },     { "len", call_len },
    { "list", call_list },   { "log", call_log },     { "log10", call_log10 },
    { "log2", call_log2 },   { "max", call_max },     { "min", call_min },
    { "pow", call_pow },     { "prod", call_prod },   { "range", call_range },
    { "round", call_round }, { "set", call_set },     { "sorted", call_sorted },
    { "sqrt", call_sqrt },   { "sum", call_sum },     { "trunc", call_int },
    { "tuple", call_list },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static function_fn *find(const char *name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].fn;
    return NULL;
}

bool py_function_known(const char *name)
{
    return find(name) != NULL;
}

int py_function_call(struct py_run *run, const struct py_node *node,
                     const struct py_value *arguments, size_t n,
                     struct py_value *out)
{
    struct call call = { run, node, arguments, n, py_run_flaw(run) };

    return find(node->text)(&call, out);
}
