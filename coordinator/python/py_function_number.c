/* Functions of numbers: those of Python, of its module math, and numpy's where
 * they differ. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_function.h"

#define DIGITS_MOST 22    /* of round() */
#define REAL_BYTES_MAX 60 /* of a text for float() */

/* The number of the only argument, which is one. */
static double only(const struct py_call *call)
{
    return py_value_number(call->arguments);
}

static int too_large(const struct py_call *call)
{
    return py_flaw_set(call->flaw, call->node->at, "the result is too large");
}

static int real_of(const struct py_call *call, double (*fn)(double),
                   struct py_value *out)
{
    if (!py_call_number(call))
        return py_call_wrong(call);
    *out = py_value_real(fn(only(call)));
    return 0;
}

/* ---- rounding */

static int rounded(const struct py_call *call, double (*fn)(double),
                   struct py_value *out)
{
    const struct py_value *value = call->arguments;

    if (!py_call_number(call))
        return py_call_wrong(call);
    if (value->kind == PY_REAL)
        return py_call_whole(call, fn(value->real), out);
    *out = py_value_int(value->integer);
    return 0;
}

static int call_abs(const struct py_call *call, struct py_value *out)
{
    const struct py_value *value = call->arguments;

    if (!py_call_number(call))
        return py_call_wrong(call);
    if (value->kind == PY_REAL) {
        *out = py_value_real(fabs(value->real));
        return 0;
    }
    if (value->integer == PY_INT_MIN)
        return py_call_whole(call, INFINITY, out);
    *out = py_value_int(value->integer < 0 ? -value->integer : value->integer);
    return 0;
}

static int call_ceil(const struct py_call *call, struct py_value *out)
{
    return rounded(call, ceil, out);
}

static int call_floor(const struct py_call *call, struct py_value *out)
{
    return rounded(call, floor, out);
}

static int call_trunc(const struct py_call *call, struct py_value *out)
{
    return rounded(call, trunc, out);
}

static int np_ceil(const struct py_call *call, struct py_value *out)
{
    return real_of(call, ceil, out);
}

static int np_floor(const struct py_call *call, struct py_value *out)
{
    return real_of(call, floor, out);
}

static int np_trunc(const struct py_call *call, struct py_value *out)
{
    return real_of(call, trunc, out);
}

static int np_rint(const struct py_call *call, struct py_value *out)
{
    return real_of(call, rint, out);
}

/* To a multiple of 10^digits; a half goes to the even one. */
static int round_tens(const struct py_call *call, py_int integer, py_int digits,
                      struct py_value *out)
{
    py_int unit = 1, rest;

    for (; digits > 0 && unit < PY_INT_MAX / 100; digits--)
        unit *= 10;
    if (digits > 0)
        return py_call_wrong(call);
    rest = integer % unit;
    integer -= rest;
    if (rest < 0) {
        integer -= unit;
        rest += unit;
    }
    if (2 * rest > unit || (2 * rest == unit && integer / unit % 2 != 0))
        integer += unit;
    *out = py_value_int(integer);
    return 0;
}

/* round(x, DIGITS): printf() rounds what the bits are, as Python does. */
static int round_to(const struct py_call *call, struct py_value *out)
{
    const struct py_value *value = &call->arguments[0];
    const struct py_value *digits = &call->arguments[1];
    char text[DBL_MAX_10_EXP + DIGITS_MOST + 10];

    if (!py_value_is_number(value) || !py_value_is_whole(digits) ||
        digits->integer > DIGITS_MOST || digits->integer < -DIGITS_MOST ||
        (value->kind == PY_REAL && digits->integer < 0))
        return py_call_wrong(call);
    if (value->kind != PY_REAL)
        return round_tens(call, value->integer, -digits->integer, out);
    snprintf(text, sizeof(text), "%.*f", (int)digits->integer, value->real);
    *out = py_value_real(strtod(text, NULL));
    return 0;
}

/* To the even neighbour, as rint() does by default. */
static int call_round(const struct py_call *call, struct py_value *out)
{
    return call->n == 2 && call->arguments[1].kind != PY_NONE
               ? round_to(call, out)
               : rounded(&(struct py_call){ call->run, call->node,
                                            call->arguments,
                                            call->n == 2 ? 1 : call->n,
                                            call->flaw },
                         rint, out);
}

static int np_round(const struct py_call *call, struct py_value *out)
{
    return call->n == 2 ? round_to(call, out) : np_rint(call, out);
}

/* ---- int and float */

/* "-1_000" without the '_'; false if it is no number of one of the digits. */
static bool plain(const char *text, const char *digits, char out[],
                  size_t bytes)
{
    size_t n = 0, len;

    text += strspn(text, " \t\r\n");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++) {
        bool inside = i > 0 && i + 1 < len &&
                      strchr("0123456789", text[i - 1]) &&
                      strchr("0123456789", text[i + 1]);

        if (text[i] == '_' ? !inside : !strchr(digits, text[i]))
            return false;
        if (n + 1 == bytes)
            return false;
        if (text[i] != '_')
            out[n++] = text[i];
    }
    out[n] = '\0';
    return n > 0;
}

static int whole_text(const struct py_call *call, struct py_value *out)
{
    char text[PY_INT_BYTES];
    py_int integer = 0;
    size_t i;

    if (!plain(call->arguments->text, "+-0123456789", text, sizeof(text)))
        return py_call_wrong(call);
    i = *text == '-' || *text == '+';
    if (!text[i] || strspn(text + i, "0123456789") != strlen(text + i))
        return py_call_wrong(call);
    for (; text[i]; i++)
        if (__builtin_mul_overflow(integer, 10, &integer) ||
            __builtin_add_overflow(integer, text[i] - '0', &integer))
            return py_call_whole(call, INFINITY, out);
    *out = py_value_int(*text == '-' ? -integer : integer);
    return 0;
}

static int call_int(const struct py_call *call, struct py_value *out)
{
    if (call->n == 0) {
        *out = py_value_int(0);
        return 0;
    }
    return call->n == 1 && call->arguments->kind == PY_TEXT
               ? whole_text(call, out)
               : rounded(call, trunc, out);
}

static int call_float(const struct py_call *call, struct py_value *out)
{
    char text[REAL_BYTES_MAX], *end;

    if (call->n == 1 && call->arguments->kind == PY_TEXT) {
        if (!plain(call->arguments->text, "+-.0123456789eEinfINFatyATY", text,
                   sizeof(text)))
            return py_call_wrong(call);
        *out = py_value_real(strtod(text, &end));
        return *end ? py_call_wrong(call) : 0;
    }
    if (call->n > 0 && !py_call_number(call))
        return py_call_wrong(call);
    *out = py_value_real(call->n > 0 ? only(call) : 0);
    return 0;
}

static int np_float32(const struct py_call *call, struct py_value *out)
{
    int rc = call_float(call, out);

    out->real = (double)(float)out->real;
    return rc;
}

/* ---- math */

static int call_fabs(const struct py_call *call, struct py_value *out)
{
    return real_of(call, fabs, out);
}

static int call_exp(const struct py_call *call, struct py_value *out)
{
    int rc = real_of(call, exp, out);

    return rc == 0 && isinf(out->real) && isfinite(only(call)) ? too_large(call)
                                                               : rc;
}

static bool is_above_0(const struct py_value *value)
{
    return py_value_is_number(value) && py_value_number(value) > 0;
}

static int call_log10(const struct py_call *call, struct py_value *out)
{
    return call->n == 1 && is_above_0(call->arguments)
               ? real_of(call, log10, out)
               : py_call_wrong(call);
}

static int call_log2(const struct py_call *call, struct py_value *out)
{
    return call->n == 1 && is_above_0(call->arguments)
               ? real_of(call, log2, out)
               : py_call_wrong(call);
}

/* log(x), log(x, BASE) */
static int call_log(const struct py_call *call, struct py_value *out)
{
    double base;

    if (call->n < 1 || call->n > 2 || !is_above_0(call->arguments) ||
        !is_above_0(&call->arguments[call->n - 1]))
        return py_call_wrong(call);
    base = call->n == 2 ? log(py_value_number(&call->arguments[1])) : 1;
    if (base == 0)
        return py_flaw_set(call->flaw, call->node->at, "division by zero");
    *out = py_value_real(log(only(call)) / base);
    return 0;
}

static int call_sqrt(const struct py_call *call, struct py_value *out)
{
    return py_call_number(call) && only(call) >= 0 ? real_of(call, sqrt, out)
                                                   : py_call_wrong(call);
}

/* numpy has -inf, inf and nan where Python raises an error. */
static int np_exp(const struct py_call *call, struct py_value *out)
{
    return real_of(call, exp, out);
}

static int np_log(const struct py_call *call, struct py_value *out)
{
    return real_of(call, log, out);
}

static int np_log2(const struct py_call *call, struct py_value *out)
{
    return real_of(call, log2, out);
}

static int np_log10(const struct py_call *call, struct py_value *out)
{
    return real_of(call, log10, out);
}

static int np_sqrt(const struct py_call *call, struct py_value *out)
{
    return real_of(call, sqrt, out);
}

static bool two_numbers(const struct py_call *call)
{
    return call->n == 2 && py_value_is_number(&call->arguments[0]) &&
           py_value_is_number(&call->arguments[1]);
}

static int operation(const struct py_call *call, enum py_op op,
                     struct py_value *out)
{
    return two_numbers(call)
               ? py_arithmetic(op, &call->arguments[0], &call->arguments[1],
                               call->node->at, out, call->flaw)
               : py_call_wrong(call);
}

static int call_pow(const struct py_call *call, struct py_value *out)
{
    return operation(call, PY_OP_POWER, out);
}

static int np_mod(const struct py_call *call, struct py_value *out)
{
    return operation(call, PY_OP_MODULO, out);
}

static int np_floor_divide(const struct py_call *call, struct py_value *out)
{
    return operation(call, PY_OP_FLOOR_DIVIDE, out);
}

/* Its arguments are floats, whatever they were. */
static int math_pow(const struct py_call *call, struct py_value *out)
{
    struct py_value a, b;

    if (!two_numbers(call))
        return py_call_wrong(call);
    a = py_value_real(py_value_number(&call->arguments[0]));
    b = py_value_real(py_value_number(&call->arguments[1]));
    return py_arithmetic(PY_OP_POWER, &a, &b, call->node->at, out, call->flaw);
}

static int call_fmod(const struct py_call *call, struct py_value *out)
{
    double a, b;

    if (!two_numbers(call))
        return py_call_wrong(call);
    a = py_value_number(&call->arguments[0]);
    b = py_value_number(&call->arguments[1]);
    *out = py_value_real(fmod(a, b));
    return b == 0 || isinf(a) ? py_call_wrong(call) : 0;
}

/* ---- truths */

static int call_bool(const struct py_call *call, struct py_value *out)
{
    if (call->n > 1)
        return py_call_wrong(call);
    *out = py_value_bool(call->n == 1 && py_value_truth(call->arguments));
    return 0;
}

static int call_is_integer(const struct py_call *call, struct py_value *out)
{
    if (call->n != 1 || call->arguments->kind != PY_REAL)
        return py_call_wrong(call);
    *out =
        py_value_bool(isfinite(only(call)) && floor(only(call)) == only(call));
    return 0;
}

static int call_isnan(const struct py_call *call, struct py_value *out)
{
    if (!py_call_number(call))
        return py_call_wrong(call);
    *out = py_value_bool(isnan(only(call)));
    return 0;
}

static int call_isinf(const struct py_call *call, struct py_value *out)
{
    if (!py_call_number(call))
        return py_call_wrong(call);
    *out = py_value_bool(isinf(only(call)));
    return 0;
}

const struct py_function py_number_functions[] = {
    { ".is_integer", call_is_integer, "" },
    { "abs", call_abs, "" },
    { "bool", call_bool, "" },
    { "ceil", call_ceil, "m" },
    { "exp", call_exp, "m" },
    { "fabs", call_fabs, "m" },
    { "float", call_float, "" },
    { "floor", call_floor, "m" },
    { "fmod", call_fmod, "m" },
    { "int", call_int, "" },
    { "isinf", call_isinf, "m" },
    { "isnan", call_isnan, "m" },
    { "log", call_log, "m" },
    { "log10", call_log10, "m" },
    { "log2", call_log2, "m" },
    { "math.pow", math_pow, "" },
    { "np.around", np_round, "" },
    { "np.ceil", np_ceil, "" },
    { "np.exp", np_exp, "" },
    { "np.float32", np_float32, "" },
    { "np.floor", np_floor, "" },
    { "np.floor_divide", np_floor_divide, "" },
    { "np.log", np_log, "" },
    { "np.log10", np_log10, "" },
    { "np.log2", np_log2, "" },
    { "np.mod", np_mod, "" },
    { "np.remainder", np_mod, "" },
    { "np.rint", np_rint, "" },
    { "np.round", np_round, "" },
    { "np.sqrt", np_sqrt, "" },
    { "np.trunc", np_trunc, "" },
    { "pow", call_pow, "" },
    { "round", call_round, "" },
    { "sqrt", call_sqrt, "m" },
    { "trunc", call_trunc, "m" },
    { NULL, NULL, NULL },
};
