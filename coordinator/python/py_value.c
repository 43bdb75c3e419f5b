#include "coordinator/python/py_value.h"

#include <math.h>
#include <string.h>

struct py_value py_value_int(py_int integer)
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

struct py_value py_value_list(enum py_form form, const struct py_value *items,
                              size_t n)
{
    return (struct py_value){
        .kind = PY_LIST, .form = form, .items = items, .n = n
    };
}

bool py_value_is_number(const struct py_value *value)
{
    return value->kind == PY_REAL || py_value_is_whole(value);
}

bool py_value_is_whole(const struct py_value *value)
{
    return value->kind == PY_INT || value->kind == PY_BOOL;
}

bool py_value_fits(const struct py_value *value)
{
    return py_value_is_whole(value) && value->integer >= INT64_MIN &&
           value->integer <= INT64_MAX;
}

double py_value_number(const struct py_value *value)
{
    return value->kind == PY_REAL ? value->real : (double)value->integer;
}

void py_value_digits(py_int integer, char out[PY_INT_BYTES])
{
    char turned[PY_INT_BYTES];
    size_t n = 0, len = 0;

    if (integer < 0)
        out[len++] = '-';
    do { /* the rest of a number below 0 is not above 0 */
        int digit = (int)(integer % 10);

        turned[n++] = (char)('0' + (digit < 0 ? -digit : digit));
        integer /= 10;
    } while (integer != 0);
    while (n > 0)
        out[len++] = turned[--n];
    out[len] = '\0';
}

bool py_value_truth(const struct py_value *value)
{
    switch (value->kind) {
    case PY_REAL:
        return value->real != 0;
    case PY_TEXT:
        return *value->text != '\0';
    case PY_LIST:
        return value->n > 0 || value->form == PY_FORM_ONCE;
    case PY_NONE:
        return false;
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
static int order_mixed(py_int integer, double real)
{
    py_int whole;

    if (isnan(real))
        return PY_VALUE_UNORDERED;
    if (real >= 0x1p127)
        return -1;
    if (real < -0x1p127)
        return 1;
    whole = (py_int)real;
    if (integer != whole)
        return sign(integer > whole, integer < whole);
    return sign(real<(double)whole, real>(double) whole);
}

static int order_numbers(const struct py_value *a, const struct py_value *b)
{
    int turned;

    if (a->kind == PY_REAL && b->kind == PY_REAL)
        return isnan(a->real) || isnan(b->real)
                   ? PY_VALUE_UNORDERED
                   : sign(a->real > b->real, a->real < b->real);
    if (b->kind == PY_REAL)
        return order_mixed(a->integer, b->real);
    if (a->kind != PY_REAL)
        return sign(a->integer > b->integer, a->integer < b->integer);
    turned = order_mixed(b->integer, a->real);
    return turned == PY_VALUE_UNORDERED ? turned : -turned;
}

static bool has(const struct py_value *list, const struct py_value *value)
{
    for (size_t i = 0; i < list->n; i++)
        if (py_value_equal(&list->items[i], value))
            return true;
    return false;
}

static bool has_all(const struct py_value *list, const struct py_value *other)
{
    for (size_t i = 0; i < other->n; i++)
        if (!has(list, &other->items[i]))
            return false;
    return true;
}

/* A set is less than another that has all its items, and more. */
static int order_sets(const struct py_value *a, const struct py_value *b)
{
    bool more = has_all(a, b), less = has_all(b, a);

    return more || less ? sign(more && !less, less && !more)
                        : PY_VALUE_UNORDERED;
}

/* The first items that differ decide; then the lengths. */
static bool order_lists(const struct py_value *a, const struct py_value *b,
                        int *order)
{
    size_t i = 0;

    if (a->form != b->form || a->form == PY_FORM_RANGE ||
        a->form == PY_FORM_ONCE)
        return false;
    if (a->form == PY_FORM_SET) {
        *order = order_sets(a, b);
        return true;
    }
    while (i < a->n && i < b->n && py_value_equal(&a->items[i], &b->items[i]))
        i++;
    if (i < a->n && i < b->n)
        return py_value_order(&a->items[i], &b->items[i], order);
    *order = sign(a->n > b->n, a->n < b->n);
    return true;
}

bool py_value_order(const struct py_value *a, const struct py_value *b,
                    int *order)
{
    if (a->kind == PY_LIST && b->kind == PY_LIST)
        return order_lists(a, b, order);
    if (a->kind == PY_TEXT && b->kind == PY_TEXT) {
        *order = strcmp(a->text, b->text);
        *order = sign(*order > 0, *order < 0);
        return true;
    }
    if (!py_value_is_number(a) || !py_value_is_number(b))
        return false;
    *order = order_numbers(a, b);
    return true;
}

static bool equal_lists(const struct py_value *a, const struct py_value *b)
{
    if (a->form != b->form || a->n != b->n || a->form == PY_FORM_ONCE)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!py_value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

bool py_value_equal(const struct py_value *a, const struct py_value *b)
{
    int order;

    if (a->kind == PY_LIST && b->kind == PY_LIST)
        return equal_lists(a, b);
    if (a->kind == PY_NONE || b->kind == PY_NONE)
        return a->kind == b->kind;
    return py_value_order(a, b, &order) && order == 0;
}

const char *py_value_kind_name(enum py_kind kind)
{
    static const char *const names[] = {
        [PY_INT] = "an int",  [PY_REAL] = "a float", [PY_BOOL] = "a bool",
        [PY_TEXT] = "a text", [PY_LIST] = "a list",  [PY_NONE] = "None",
    };

    return names[kind];
}
