#include "coordinator/text/caret.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/err.h"

#define WINDOW 72 /* bytes of a line shown: fits 80 columns with the indent */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* UTF-8, inside a character */
}

static void add_excerpt(struct buf *text, const struct caret_line *line,
                        size_t at)
{
    size_t from = at > WINDOW - 12 ? at - (WINDOW - 12) : 0;
    size_t to = line->len - from > WINDOW ? from + WINDOW : line->len;

    while (from > 0 && is_continuation(line->text[from]))
        from--;
    buf_add(text, "  ", 2);
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)line->text[i];

        buf_add(text, c < ' ' || c == 0x7f ? " " : line->text + i, 1);
    }
    buf_add(text, "\n  ", 3);
    for (size_t i = from; i < at; i++)
        if (!is_continuation(line->text[i]))
            buf_add(text, " ", 1);
    buf_add(text, "^", 1);
}

static int point_at(struct err *err, const struct caret_line *line,
                    const char *at, const char *why, const char *what)
{
    size_t offset = (size_t)(at - line->text);
    struct buf excerpt;

    buf_init(&excerpt, 4 * WINDOW);
    add_excerpt(&excerpt, line, offset);
    err_set(err, ERR_INPUT, "%s:%d:%zu: %s\n%s%s%s", line->file, line->number,
            offset + 1, what, buf_text(&excerpt), why ? "\n" : "",
            why ? why : "");
    buf_fini(&excerpt);
    return ERR_INPUT;
}

int caret_err(struct err *err, const struct caret_line *line, const char *at,
              const char *why, const char *fmt, ...)
{
    char what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return point_at(err, line, at, why, what);
}

int caret_line_number(const struct caret_text *text, size_t at)
{
    int number = 1;

    for (size_t i = 0; i < at; i++)
        number += text->text[i] == '\n';
    return number;
}

int caret_text_verr(struct err *err, const struct caret_text *text, size_t at,
                    const char *why, const char *fmt, va_list ap)
{
    size_t from = at, to = at;
    struct caret_line line = { .file = text->file };
    char what[256];

    vsnprintf(what, sizeof(what), fmt, ap);
    while (from > 0 && text->text[from - 1] != '\n')
        from--;
    while (to < text->len && text->text[to] != '\n')
        to++;
    if (to > at && text->text[to - 1] == '\r')
        to--;
    line.number = caret_line_number(text, at);
    line.text = text->text + from;
    line.len = to - from;
    return point_at(err, &line, text->text + at, why, what);
}

int caret_text_err(struct err *err, const struct caret_text *text, size_t at,
                   const char *why, const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = caret_text_verr(err, text, at, why, fmt, ap);
    va_end(ap);
    return rc;
}
