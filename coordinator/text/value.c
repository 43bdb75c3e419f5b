#include "coordinator/text/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_equal(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_INT:
    case VALUE_BOOL:
        return a->integer == b->integer;
    case VALUE_REAL:
        return a->real == b->real;
    case VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case VALUE_NULL:
        break;
    }
    return true;
}

double value_number(const struct value *value)
{
    if (value->kind == VALUE_REAL)
        return value->real;
    if (value->kind == VALUE_INT || value->kind == VALUE_BOOL)
        return (double)value->integer;
    return NAN;
}

/* The shortest of 15 to 17 digits that reads back; with a point or exponent,
 * so that it stays a real for SQL and C. */
static void add_real(double real, struct buf *out)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            break;
    }
    buf_printf(out, "%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}

void value_text(const struct value *value, struct buf *out)
{
    switch (value->kind) {
    case VALUE_INT:
        buf_int(out, value->integer);
        break;
    case VALUE_REAL:
        add_real(value->real, out);
        break;
    case VALUE_BOOL:
        buf_str(out, value->integer ? "true" : "false");
        break;
    case VALUE_TEXT:
        buf_str(out, value->text);
        break;
    case VALUE_NULL:
        buf_str(out, "NULL");
        break;
    }
}

void value_quote(const char *text, struct buf *out)
{
    buf_printf(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20)
            buf_printf(out, "\\u%04x", c);
        else
            buf_printf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    buf_printf(out, "\"");
}

void value_json(const struct value *value, struct buf *out)
{
    if (value->kind == VALUE_TEXT) /* of [A-Za-z0-9_.:+-], spec.h */
        buf_printf(out, "\"%s\"", value->text);
    else if (value->kind == VALUE_NULL)
        buf_printf(out, "null");
    else
        value_text(value, out);
}

void value_sql(const struct value *value, struct buf *out)
{
    if (value->kind == VALUE_TEXT)
        buf_printf(out, "'%s'", value->text);
    else if (value->kind == VALUE_BOOL)
        buf_int(out, value->integer != 0);
    else
        value_text(value, out);
}
