#include "common/caret.h"

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
    buf_add(text, "^\n", 2);
}

int caret_err(struct err *err, const struct caret_line *line, const char *at,
              const char *why, const char *fmt, ...)
{
    size_t offset = (size_t)(at - line->text);
    struct buf excerpt;
    char what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    buf_init(&excerpt, 4 * WINDOW);
    add_excerpt(&excerpt, line, offset);
    err_set(err, ERR_INPUT, "%s:%d:%zu: %s\n%s%s", line->file, line->number,
            offset + 1, what, buf_text(&excerpt), why);
    buf_fini(&excerpt);
    return ERR_INPUT;
}
