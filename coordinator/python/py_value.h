/* py_value.h - a value of the Python subset (py_expression.h)
 *
 * A text and the items of a list are borrowed; who returns the value says from
 * where.
 */
#ifndef FA_COORDINATOR_PYTHON_PY_VALUE_H
#define FA_COORDINATOR_PYTHON_PY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Python's ints are unbounded; what does not fit is a flaw. */
__extension__ typedef __int128 py_int;
#define PY_INT_BITS 128
#define PY_INT_MAX ((((py_int)1 << 126) - 1) * 2 + 1)
#define PY_INT_MIN (-PY_INT_MAX - 1)
#define PY_INT_BYTES 44 /* of its digits */

enum py_kind {
    PY_INT,
    PY_REAL,
    PY_BOOL, /* integer is 0 or 1 */
    PY_TEXT, /* UTF-8 */
    PY_LIST,
    PY_NONE,
};

enum py_form { /* of a PY_LIST */
    PY_FORM_LIST,
    PY_FORM_TUPLE,
    PY_FORM_RANGE,
    PY_FORM_SET,  /* its items are sorted, so that equal sets are equal lists */
    PY_FORM_ONCE, /* a generator */
};

struct py_value {
    enum py_kind kind;
    enum py_form form;
    py_int integer;
    double real;
    const char *text;
    const struct py_value *items;
    size_t n;
};

struct py_value py_value_int(py_int integer);
struct py_value py_value_real(double real);
struct py_value py_value_bool(bool truth);
struct py_value py_value_text(const char *text);
struct py_value py_value_list(enum py_form form, const struct py_value *items,
                              size_t n);

/* An int, a real or a bool. */
bool py_value_is_number(const struct py_value *value);
/* An int or a bool. */
bool py_value_is_whole(const struct py_value *value);
/* An int or a bool that fits into 64 bits. */
bool py_value_fits(const struct py_value *value);
/* That number, rounded to a double. */
double py_value_number(const struct py_value *value);
/* The digits of an int, behind a '-' if it is below 0. */
void py_value_digits(py_int integer, char out[PY_INT_BYTES]);
/* As bool() in Python. */
bool py_value_truth(const struct py_value *value);
/* As == in Python: 1 is 1.0 and True, and a list is no tuple. */
bool py_value_equal(const struct py_value *a, const struct py_value *b);
/* Below 0, 0 or above 0 for two numbers, texts, lists or tuples; an int and a
 * real are compared exactly.  False for a pair that has no order.  For NaN, and
 * for sets of which none has all items of the other, 'order' is
 * PY_VALUE_UNORDERED. */
#define PY_VALUE_UNORDERED 2
bool py_value_order(const struct py_value *a, const struct py_value *b,
                    int *order);
const char *py_value_kind_name(enum py_kind kind); /* "a text" */

#endif
