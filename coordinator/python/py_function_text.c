/* Functions and methods of texts. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/python/py_function.h"
#include "coordinator/text/decimal.h"

#define BLANKS " \t\r\n\f\v"

/* ---- characters of UTF-8 */

static bool is_inside(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t py_text_offset(const char *text, size_t n)
{
    size_t at = 0;

    while (n > 0 && text[at]) {
        at++;
        while (is_inside(text[at]))
            at++;
        n--;
    }
    return at;
}

size_t py_text_length(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += !is_inside(*text);
    return n;
}

/* A part of a text as a text of its own. */
static int take(struct py_run *run, size_t at, const char *from, size_t len,
                struct py_value *out)
{
    char *text;

    if (py_run_text(run, at, len, &text) < 0)
        return ERR_INPUT;
    memcpy(text, from, len);
    *out = py_value_text(text);
    return 0;
}

int py_text_characters(struct py_run *run, size_t at, const char *text,
                       struct py_value *out)
{
    size_t n = py_text_length(text);
    struct py_value *items;
    int rc = py_run_list(run, at, n, &items);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        size_t len = py_text_offset(text, 1);

        rc = take(run, at, text, len, &items[i]);
        text += len;
    }
    *out = py_value_list(PY_FORM_LIST, items, n);
    return rc;
}

/* ---- str() */

static bool put(const struct py_value *value, bool quoted, struct buf *out);

static void put_real(double real, struct buf *out)
{
    char text[DECIMAL_BYTES];

    if (isfinite(real))
        decimal_repr(real, text);
    buf_str(out, isfinite(real) ? text
                 : isnan(real)  ? "nan"
                 : real < 0     ? "-inf"
                                : "inf");
}

/* repr() of a text that has nothing to escape. */
static bool put_quoted(const char *text, struct buf *out)
{
    for (const char *at = text; *at; at++)
        if (*at == '\'' || *at == '\\' || !isprint((unsigned char)*at))
            return false;
    buf_printf(out, "'%s'", text);
    return true;
}

/* The order of a set is not defined. */
static bool put_list(const struct py_value *list, struct buf *out)
{
    bool tuple = list->form == PY_FORM_TUPLE;

    if (!tuple && list->form != PY_FORM_LIST)
        return false;
    buf_str(out, tuple ? "(" : "[");
    for (size_t i = 0; i < list->n; i++) {
        buf_str(out, i ? ", " : "");
        if (!put(&list->items[i], true, out))
            return false;
    }
    buf_str(out, !tuple ? "]" : list->n == 1 ? ",)" : ")");
    return true;
}

static bool put(const struct py_value *value, bool quoted, struct buf *out)
{
    char digits[PY_INT_BYTES];

    switch (value->kind) {
    case PY_INT:
        py_value_digits(value->integer, digits);
        buf_str(out, digits);
        return true;
    case PY_REAL:
        put_real(value->real, out);
        return true;
    case PY_TEXT:
        if (quoted)
            return put_quoted(value->text, out);
        buf_str(out, value->text);
        return true;
    case PY_LIST:
        return put_list(value, out);
    case PY_BOOL:
        buf_str(out, value->integer ? "True" : "False");
        return true;
    default:
        buf_str(out, "None");
        return true;
    }
}

int py_text_of(struct py_run *run, size_t at, const struct py_value *value,
               const char **out)
{
    struct py_value text = { .text = "" };
    struct buf buf;
    int rc;

    buf_init(&buf, PY_EXPRESSION_STEPS);
    if (put(value, false, &buf) && !buf.truncated)
        rc = take(run, at, buf_text(&buf), buf.len, &text);
    else
        rc =
            py_flaw_set(run->flaw, at, "this has no text in the Python subset");
    buf_fini(&buf);
    *out = text.text;
    return rc;
}

static int call_str(const struct py_call *call, struct py_value *out)
{
    const char *text = "";
    int rc = 0;

    if (call->n > 1)
        return py_call_wrong(call);
    if (call->n == 1)
        rc = py_text_of(call->run, call->node->at, call->arguments, &text);
    *out = py_value_text(text);
    return rc;
}

/* ---- methods */

/* So many texts. */
static bool texts(const struct py_call *call, size_t n)
{
    for (size_t i = 0; i < call->n; i++)
        if (call->arguments[i].kind != PY_TEXT)
            return false;
    return call->n == n;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t len = strlen(text), n = strlen(with);

    return n <= len && strcmp(text + len - n, with) == 0;
}

/* With a text, or one of a tuple. */
static int affix(const struct py_call *call,
                 bool (*fits)(const char *text, const char *with),
                 struct py_value *out)
{
    const struct py_value *with = &call->arguments[1];
    size_t n = 1;

    *out = py_value_bool(false);
    if (call->n != 2 || call->arguments[0].kind != PY_TEXT)
        return py_call_wrong(call);
    if (with->kind == PY_LIST && with->form == PY_FORM_TUPLE) {
        n = with->n;
        with = with->items;
    }
    for (size_t i = 0; i < n; i++) {
        if (with[i].kind != PY_TEXT)
            return py_call_wrong(call);
        if (fits(call->arguments[0].text, with[i].text))
            *out = py_value_bool(true);
    }
    return 0;
}

static int call_startswith(const struct py_call *call, struct py_value *out)
{
    return affix(call, begins, out);
}

static int call_endswith(const struct py_call *call, struct py_value *out)
{
    return affix(call, ends, out);
}

static int in_case(const struct py_call *call, int (*fn)(int),
                   struct py_value *out)
{
    const char *from = call->arguments->text;
    char *text;

    if (!texts(call, 1))
        return py_call_wrong(call);
    if (py_run_text(call->run, call->node->at, strlen(from), &text) < 0)
        return ERR_INPUT;
    *out = py_value_text(text);
    for (; *from; from++) {
        if (!isascii((unsigned char)*from))
            return py_call_wrong(call);
        *text++ = (char)fn((unsigned char)*from);
    }
    return 0;
}

static int call_lower(const struct py_call *call, struct py_value *out)
{
    return in_case(call, tolower, out);
}

static int call_upper(const struct py_call *call, struct py_value *out)
{
    return in_case(call, toupper, out);
}

static int call_strip(const struct py_call *call, struct py_value *out)
{
    const char *from = call->arguments->text, *blanks = BLANKS;
    size_t len;

    if (!texts(call, call->n == 2 ? 2 : 1))
        return py_call_wrong(call);
    if (call->n == 2)
        blanks = call->arguments[1].text;
    from += strspn(from, blanks);
    len = strlen(from);
    while (len > 0 && strchr(blanks, from[len - 1]))
        len--;
    return take(call->run, call->node->at, from, len, out);
}

static int call_isdigit(const struct py_call *call, struct py_value *out)
{
    const char *text = call->arguments->text;

    if (!texts(call, 1))
        return py_call_wrong(call);
    *out = py_value_bool(*text && strspn(text, "0123456789") == strlen(text));
    return 0;
}

/* ---- what is found in a text or a list */

static int count_text(const char *text, const char *part)
{
    size_t len = strlen(part);
    int n = 0;

    if (len == 0)
        return (int)py_text_length(text) + 1;
    for (; (text = strstr(text, part)); text += len)
        n++;
    return n;
}

static int call_count(const struct py_call *call, struct py_value *out)
{
    const struct py_value *in = &call->arguments[0];
    int n = 0;

    if (texts(call, 2)) {
        *out = py_value_int(count_text(in->text, call->arguments[1].text));
        return 0;
    }
    if (call->n != 2 || in->kind != PY_LIST || in->form > PY_FORM_RANGE)
        return py_call_wrong(call);
    for (size_t i = 0; i < in->n; i++)
        n += py_value_equal(&in->items[i], &call->arguments[1]);
    *out = py_value_int(n);
    return 0;
}

/* The place of the first one, or -1. */
static int place(const struct py_call *call)
{
    const struct py_value *in = &call->arguments[0];

    if (in->kind == PY_TEXT) {
        const char *at = strstr(in->text, call->arguments[1].text);
        int n = 0;

        for (const char *c = in->text; at && c < at; c++)
            n += !is_inside(*c);
        return at ? n : -1;
    }
    for (size_t i = 0; i < in->n; i++)
        if (py_value_equal(&in->items[i], &call->arguments[1]))
            return (int)i;
    return -1;
}

static int call_find(const struct py_call *call, struct py_value *out)
{
    if (!texts(call, 2))
        return py_call_wrong(call);
    *out = py_value_int(place(call));
    return 0;
}

static int call_index(const struct py_call *call, struct py_value *out)
{
    const struct py_value *in = &call->arguments[0];
    int at;

    if (!texts(call, 2) &&
        (call->n != 2 || in->kind != PY_LIST || in->form > PY_FORM_RANGE))
        return py_call_wrong(call);
    at = place(call);
    *out = py_value_int(at);
    return at >= 0 ? 0
                   : py_flaw_set(call->flaw, call->node->at,
                                 "index() finds no such item");
}

static int call_replace(const struct py_call *call, struct py_value *out)
{
    const char *at, *from, *part;
    struct buf buf;
    int rc;

    if (!texts(call, 3) || !*call->arguments[1].text)
        return py_call_wrong(call);
    from = call->arguments[0].text;
    part = call->arguments[1].text;
    buf_init(&buf, PY_EXPRESSION_STEPS);
    while ((at = strstr(from, part))) {
        buf_add(&buf, from, (size_t)(at - from));
        buf_str(&buf, call->arguments[2].text);
        from = at + strlen(part);
    }
    buf_str(&buf, from);
    rc = buf.truncated
             ? py_call_wrong(call)
             : take(call->run, call->node->at, buf_text(&buf), buf.len, out);
    buf_fini(&buf);
    return rc;
}

/* split() at blanks, split(TEXT) at that. */
static int call_split(const struct py_call *call, struct py_value *out)
{
    const char *from = call->arguments->text, *part = NULL, *end;
    struct py_value *items;
    size_t n = 0;

    if (!texts(call, call->n == 2 ? 2 : 1))
        return py_call_wrong(call);
    if (call->n == 2)
        part = call->arguments[1].text;
    if ((part && !*part) ||
        py_run_list(call->run, call->node->at, strlen(from) + 1, &items) < 0)
        return py_call_wrong(call);
    for (;;) {
        if (!part)
            from += strspn(from, BLANKS);
        if (!part && !*from)
            break;
        end = part ? strstr(from, part) : from + strcspn(from, BLANKS);
        if (!end)
            end = from + strlen(from);
        if (take(call->run, call->node->at, from, (size_t)(end - from),
                 &items[n++]) < 0)
            return ERR_INPUT;
        if (!*end)
            break;
        from = end + (part ? strlen(part) : 1);
    }
    *out = py_value_list(PY_FORM_LIST, items, n);
    return 0;
}

const struct py_function py_text_functions[] = {
    { ".count", call_count, "" },
    { ".endswith", call_endswith, "" },
    { ".find", call_find, "" },
    { ".index", call_index, "" },
    { ".isdigit", call_isdigit, "" },
    { ".lower", call_lower, "" },
    { ".replace", call_replace, "" },
    { ".split", call_split, "" },
    { ".startswith", call_startswith, "" },
    { ".strip", call_strip, "" },
    { ".upper", call_upper, "" },
    { "str", call_str, "" },
    { NULL, NULL, NULL },
};
