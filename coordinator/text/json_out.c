#include "coordinator/text/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/text/decimal.h"
#include "coordinator/text/utf8.h"

void json_out_init(struct json_out *out, FILE *to)
{
    *out = (struct json_out){ .to = to };
}

/* Bytes that need no escape. */
static size_t plain(const char *text)
{
    size_t n = 0;

    while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' &&
           text[n] != '\\')
        n++;
    return n;
}

static void quote(FILE *to, const char *text)
{
    fputc('"', to);
    for (;;) {
        size_t n = plain(text);

        fwrite(text, 1, n, to);
        text += n;
        if (!*text)
            break;
        n = utf8_sequence(text);
        if (n == 0)
            fputs("\\ufffd", to);
        else if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", to);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fprintf(to, "\\u%04x", (unsigned char)*text);
        else
            fwrite(text, 1, n, to);
        text += n ? n : 1;
    }
    fputc('"', to);
}

/* printf() would take as long as all else. */
static void break_line(const struct json_out *out)
{
    static const char text[] = "\n                                ";

    static_assert(sizeof(text) == 2 + 2 * JSON_OUT_DEPTH, "room for all");
    fwrite(text, 1, 1 + 2 * (size_t)out->depth, out->to);
}

/* Write what precedes a value: comma, line break, key.  Values in arrays have
 * no line break, so that an array of numbers stays on one line. */
static void lead(struct json_out *out, const char *key)
{
    bool array = out->depth && out->closing[out->depth - 1] == ']';

    if (out->comma)
        fputc(',', out->to);
    if (out->depth && !(array && !key && out->comma))
        break_line(out);
    else if (out->comma)
        fputc(' ', out->to);
    if (key) {
        quote(out->to, key);
        fputs(": ", out->to);
    }
    out->comma = true;
}

void json_out_open(struct json_out *out, const char *key, char opening)
{
    assert(out->depth < JSON_OUT_DEPTH);
    lead(out, key);
    fputc(opening, out->to);
    out->closing[out->depth++] = opening == '{' ? '}' : ']';
    out->comma = false;
}

void json_out_close(struct json_out *out)
{
    char closing = out->closing[--out->depth];

    if (out->comma)
        break_line(out);
    fputc(closing, out->to);
    if (out->depth == 0)
        fputc('\n', out->to);
    out->comma = true;
}

void json_out_text(struct json_out *out, const char *key, const char *text)
{
    lead(out, key);
    quote(out->to, text);
}

void json_out_int(struct json_out *out, const char *key, int64_t number)
{
    lead(out, key);
    fprintf(out->to, "%" PRId64, number);
}

void json_out_real(struct json_out *out, const char *key, double number)
{
    char text[DECIMAL_BYTES];

    if (!isfinite(number)) {
        json_out_null(out, key);
        return;
    }
    decimal_text(number, text);
    json_out_raw(out, key, text);
}

void json_out_interval(struct json_out *out, const char *key, double lo,
                       double hi)
{
    if (!isfinite(lo) || !isfinite(hi)) {
        json_out_null(out, key);
        return;
    }
    json_out_open(out, key, '[');
    json_out_real(out, NULL, lo);
    json_out_real(out, NULL, hi);
    json_out_close(out);
}

void json_out_bool(struct json_out *out, const char *key, bool truth)
{
    json_out_raw(out, key, truth ? "true" : "false");
}

void json_out_null(struct json_out *out, const char *key)
{
    json_out_raw(out, key, "null");
}

void json_out_utc(struct json_out *out, const char *key, int64_t utc_ns)
{
    char text[CLOCK_ISO_BYTES];

    if (utc_ns == 0) {
        json_out_null(out, key);
        return;
    }
    clock_iso(utc_ns, text);
    json_out_text(out, key, text);
}

void json_out_raw(struct json_out *out, const char *key, const char *json)
{
    lead(out, key);
    fputs(json, out->to);
}
