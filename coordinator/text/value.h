/* value.h - a value of a tunable, or the result of a SQL expression
 *
 * A text is borrowed; the function that returns the value says from where.
 */
#ifndef FA_COORDINATOR_TEXT_VALUE_H
#define FA_COORDINATOR_TEXT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

enum value_kind {
    VALUE_INT,
    VALUE_REAL,
    VALUE_BOOL, /* integer is 0 or 1 */
    VALUE_TEXT,
    VALUE_NULL, /* an expression without a value; never a value of a tunable */
};

struct value {
    enum value_kind kind;
    int64_t integer;
    double real;
    const char *text;
};

bool value_equal(const struct value *a, const struct value *b);
/* An int, bool or real as a double; NaN for the others. */
double value_number(const struct value *value);

/* As people write it: 64, 0.5, true, fast; NULL. */
void value_text(const struct value *value, struct buf *out);
/* Any text as JSON, in quotes. */
void value_quote(const char *text, struct buf *out);
void value_json(const struct value *value, struct buf *out);
/* As SQL: 64, 0.5, 1, 'fast', NULL. */
void value_sql(const struct value *value, struct buf *out);

#endif
