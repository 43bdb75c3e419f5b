/* Operators as Python defines them
 * (docs.python.org/3/reference/expressions.html): '//' rounds down, the sign of
 * '%' is that of the divisor, and '/' is always real. */
#include <math.h>

#include "common/err.h"
#include "coordinator/python/py_internal.h"

static int beyond(struct py_flaw *flaw, size_t at)
{
    return py_flaw_set(flaw, at, "the result is beyond %d bits", PY_INT_BITS);
}

/* Whether a double holds it without rounding. */
static bool is_exact(py_int integer)
{
    double real = (double)integer;

    return fabs(real) < 0x1p126 && (py_int)real == integer;
}

static int no_division(struct py_flaw *flaw, size_t at)
{
    return py_flaw_set(flaw, at, "division by zero");
}

static py_int floor_quotient(py_int a, py_int b)
{
    py_int quotient = a / b;

    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static py_int floor_rest(py_int a, py_int b)
{
    py_int rest = a % b;

    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int whole_power(py_int base, py_int exponent, size_t at,
                       struct py_value *out, struct py_flaw *flaw)
{
    py_int power = 1;

    if (exponent < 0 && base == 0)
        return no_division(flaw, at);
    if (exponent < 0) {
        *out = py_value_real(pow((double)base, (double)exponent));
        return 0;
    }
    while (exponent > 0) {
        if (exponent & 1 && __builtin_mul_overflow(power, base, &power))
            return beyond(flaw, at);
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
            return beyond(flaw, at);
    }
    *out = py_value_int(power);
    return 0;
}

static int shift(enum py_op op, py_int a, py_int b, size_t at,
                 struct py_value *out, struct py_flaw *flaw)
{
    if (b < 0)
        return py_flaw_set(flaw, at, "the shift is by a negative number");
    if (op == PY_OP_SHIFT_RIGHT) { /* rounds down, as gcc's does */
        *out = py_value_int(a >> (b >= PY_INT_BITS ? PY_INT_BITS - 1 : b));
        return 0;
    }
    if (a != 0 &&
        (b >= PY_INT_BITS - 1 || a > PY_INT_MAX >> b || a < PY_INT_MIN >> b))
        return beyond(flaw, at);
    *out = py_value_int(a == 0 ? 0 : a * ((py_int)1 << b));
    return 0;
}

static int whole_division(enum py_op op, py_int a, py_int b, size_t at,
                          struct py_value *out, struct py_flaw *flaw)
{
    if (b == 0)
        return no_division(flaw, at);
    if (op == PY_OP_DIVIDE) {
        /* Python rounds once, and this could round twice. */
        if (!is_exact(a) || !is_exact(b))
            return py_flaw_set(flaw, at, "it divides numbers beyond 53 bits");
        *out = py_value_real((double)a / (double)b);
        return 0;
    }
    if (a == PY_INT_MIN && b == -1) {
        *out = py_value_int(0);
        return op == PY_OP_MODULO ? 0 : beyond(flaw, at);
    }
    *out = py_value_int(op == PY_OP_MODULO ? floor_rest(a, b)
                                           : floor_quotient(a, b));
    return 0;
}

static int whole(enum py_op op, py_int a, py_int b, size_t at,
                 struct py_value *out, struct py_flaw *flaw)
{
    py_int result = 0;
    bool over = false;

    switch (op) {
    case PY_OP_ADD:
        over = __builtin_add_overflow(a, b, &result);
        break;
    case PY_OP_SUBTRACT:
        over = __builtin_sub_overflow(a, b, &result);
        break;
    case PY_OP_MULTIPLY:
        over = __builtin_mul_overflow(a, b, &result);
        break;
    case PY_OP_BIT_OR:
        result = a | b;
        break;
    case PY_OP_BIT_XOR:
        result = a ^ b;
        break;
    case PY_OP_BIT_AND:
        result = a & b;
        break;
    case PY_OP_SHIFT_LEFT:
    case PY_OP_SHIFT_RIGHT:
        return shift(op, a, b, at, out, flaw);
    case PY_OP_POWER:
        return whole_power(a, b, at, out, flaw);
    default:
        return whole_division(op, a, b, at, out, flaw);
    }
    *out = py_value_int(result);
    return over ? beyond(flaw, at) : 0;
}

/* The remainder has the sign of the divisor, and the quotient fits to it; a
 * quotient that was rounded to a neighbour of a whole number is that number. */
static int real_division(enum py_op op, double a, double b, size_t at,
                         struct py_value *out, struct py_flaw *flaw)
{
    double rest, quotient, whole;

    if (b == 0)
        return no_division(flaw, at);
    if (op == PY_OP_DIVIDE) {
        *out = py_value_real(a / b);
        return 0;
    }
    rest = fmod(a, b);
    quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
        rest += b;
        quotient -= 1;
    } else if (rest == 0) {
        rest = copysign(0, b);
    }
    whole = floor(quotient);
    if (quotient - whole > 0.5)
        whole += 1;
    if (quotient == 0)
        whole = copysign(0, a / b);
    *out = py_value_real(op == PY_OP_MODULO ? rest : whole);
    return 0;
}

static int real_power(double a, double b, size_t at, struct py_value *out,
                      struct py_flaw *flaw)
{
    if (a == 0 && b < 0)
        return no_division(flaw, at);
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
        return py_flaw_set(flaw, at, "the power is a complex number");
    *out = py_value_real(pow(a, b));
    return isinf(out->real) && isfinite(a) && isfinite(b)
               ? py_flaw_set(flaw, at, "the result is too large")
               : 0;
}

static int real(enum py_op op, double a, double b, size_t at,
                struct py_value *out, struct py_flaw *flaw)
{
    switch (op) {
    case PY_OP_ADD:
        *out = py_value_real(a + b);
        return 0;
    case PY_OP_SUBTRACT:
        *out = py_value_real(a - b);
        return 0;
    case PY_OP_MULTIPLY:
        *out = py_value_real(a * b);
        return 0;
    case PY_OP_POWER:
        return real_power(a, b, at, out, flaw);
    default:
        return real_division(op, a, b, at, out, flaw);
    }
}

static bool is_bitwise(enum py_op op)
{
    return op >= PY_OP_BIT_OR && op <= PY_OP_SHIFT_RIGHT;
}

int py_arithmetic(enum py_op op, const struct py_value *a,
                  const struct py_value *b, size_t at, struct py_value *out,
                  struct py_flaw *flaw)
{
    bool reals = a->kind == PY_REAL || b->kind == PY_REAL;
    int rc;

    if (!py_value_is_number(a) || !py_value_is_number(b) ||
        (is_bitwise(op) && reals))
        return py_flaw_set(flaw, at, "%s and %s cannot be computed so",
                           py_value_kind_name(a->kind),
                           py_value_kind_name(b->kind));
    if (reals)
        return real(op, py_value_number(a), py_value_number(b), at, out, flaw);
    rc = whole(op, a->integer, b->integer, at, out, flaw);
    if (op >= PY_OP_BIT_OR && op <= PY_OP_BIT_AND && a->kind == PY_BOOL &&
        b->kind == PY_BOOL)
        out->kind = PY_BOOL;
    return rc;
}
