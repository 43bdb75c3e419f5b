#include "coordinator/python/py_value.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG >= 53, "a double fits into a long double");

struct py_value py_value_int(int64_t integer)
{
    return (struct py_value){ .kind = PY_INT, .integer = integer };
}

struct py_value py_value_real(double real)
{
    return (struct py_value){ .kind = PY_REAL, .real = real };
}

struct py_value py_value_bool(bool truth)
{
    return (struct py_value){ .kind = PY_BOOL, .integer = truth };
}

struct py_value py_value_text(const char *text)
{
    return (struct py_value){ .kind = PY_TEXT, .text = text };
}

bool py_value_is_number(const struct py_value *value)
{
    return value->kind == PY_INT || value->kind == PY_REAL ||
           value->kind == PY_BOOL;
}

double py_value_number(const struct py_value *value)
{
    return value->kind == PY_REAL ? value->real : (double)value->integer;
}

bool py_value_truth(const struct py_value *value)
{
    switch (value->kind) {
    case PY_REAL:
        return value->real != 0;
    case PY_TEXT:
        return *value->text != '\0';
    case PY_LIST:
        return value->n > 0;
    default:
        return value->integer != 0;
    }
}

static int sign(bool more, bool less)
{
    return more ? 1 : less ? -1 : 0;
}

/* Compare without rounding the int: reals beyond its range decide alone, and
 * the others are compared by their whole part first. */
static int order_mixed(int64_t integer, double real)
{
    int64_t whole;

    if (isnan(real))
        return PY_VALUE_UNORDERED;
    if (real >= 0x1p63)
        return -1;
    if (real < -0x1p63)
        return 1;
    whole = (int64_t)real;
    if (integer != whole)
        return sign(integer > whole, integer < whole);
    return sign(real<(double)whole, real>(double) whole);
}

bool py_value_order(const struct py_value *a, const struct py_value *b,
                    int *order)
{
    int turned;

    if (a->kind == PY_TEXT && b->kind == PY_TEXT) {
        *order = strcmp(a->text, b->text);
        *order = sign(*order > 0, *order < 0);
        return true;
    }
    if (!py_value_is_number(a) || !py_value_is_number(b))
        return false;
    if (a->kind == PY_REAL && b->kind == PY_REAL) {
        *order = isnan(a->real) || isnan(b->real)
                     ? PY_VALUE_UNORDERED
                     : sign(a->real > b->real, a->real < b->real);
    } else if (b->kind == PY_REAL) {
        *order = order_mixed(a->integer, b->real);
    } else if (a->kind == PY_REAL) {
        turned = order_mixed(b->integer, a->real);
        *order = turned == PY_VALUE_UNORDERED ? turned : -turned;
    } else {
        *order = sign(a->integer > b->integer, a->integer < b->integer);
    }
    return true;
}

bool py_value_equal(const struct py_value *a, const struct py_value *b)
{
    int order;

    if (a->kind != PY_LIST || b->kind != PY_LIST)
        return py_value_order(a, b, &order) && order == 0;
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!py_value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

const char *py_value_kind_name(enum py_kind kind)
{
    static const char *const names[] = {
        [PY_INT] = "an int",  [PY_REAL] = "a float", [PY_BOOL] = "a bool",
        [PY_TEXT] = "a text", [PY_LIST] = "a list",
    };

    return names[kind];
}
