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

enum py_kind {
    PY_INT,
    PY_REAL,
    PY_BOOL, /* integer is 0 or 1 */
    PY_TEXT,
    PY_LIST, /* also a tuple and a range */
};

struct py_value {
    enum py_kind kind;
    int64_t integer; /* Python's are unbounded; what does not fit is a flaw */
    double real;
    const char *text;
    const struct py_value *items;
    size_t n;
};

struct py_value py_value_int(int64_t integer);
struct py_value py_value_real(double real);
struct py_value py_value_bool(bool truth);
struct py_value py_value_text(const char *text);

/* An int, a real or a bool. */
bool py_value_is_number(const struct py_value *value);
/* That number, rounded to a double. */
double py_value_number(const struct py_value *value);
/* As bool() in Python. */
bool py_value_truth(const struct py_value *value);
/* As == in Python: 1 is 1.0 and True. */
bool py_value_equal(const struct py_value *a, const struct py_value *b);
/* Below 0, 0 or above 0 for two numbers or two texts; an int and a real are
 * compared exactly.  False for a pair that has no order, and for NaN 'order' is
 * PY_VALUE_UNORDERED. */
#define PY_VALUE_UNORDERED 2
bool py_value_order(const struct py_value *a, const struct py_value *b,
                    int *order);
const char *py_value_kind_name(enum py_kind kind); /* "a text" */

#endif
