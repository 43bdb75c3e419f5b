#include "coordinator/print/paragraph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/print/screen.h"
#include "coordinator/text/terminal.h"

/* The columns of the first 'len' bytes. */
static size_t width_of(const char *text, size_t len)
{
    size_t width = 0;

    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

size_t paragraph_line(const char *text, size_t width, const char **next)
{
    size_t end = 0;

    for (size_t at = 0;;) {
        size_t word = at + strspn(text + at, " ");
        size_t stop = word + strcspn(text + word, " \n");

        if (end > 0 && width_of(text, stop) > width)
            break;
        at = end = stop;
        if (text[at] != ' ')
            break;
    }
    *next = text + end;
    *next += strspn(*next, " ");
    if (**next == '\n')
        ++*next;
    return end;
}

void paragraph_put(FILE *to, size_t at, size_t indent, const char *text)
{
    size_t columns = screen_columns(to);

    do {
        size_t left = columns > at ? columns - at : 1;
        const char *next;
        size_t len = paragraph_line(text, left, &next);

        fprintf(to, "%.*s\n", (int)len, text);
        text = next;
        at = indent;
        if (*text)
            fprintf(to, "%*s", (int)indent, "");
    } while (*text);
}

static char *format(const char *fmt, va_list ap)
{
    char *text;

    if (vasprintf(&text, fmt, ap) < 0)
        mem_exhausted();
    return text;
}

void paragraph_print(FILE *to, size_t indent, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = format(fmt, ap);
    va_end(ap);
    paragraph_put(to, 0, indent, text);
    free(text);
}

void paragraph_labelled(FILE *to, size_t width, const char *label,
                        const char *fmt, ...)
{
    size_t used = terminal_width(label);
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = format(fmt, ap);
    va_end(ap);
    screen_put(to, SCREEN_STRONG, label);
    fprintf(to, "%*s", used < width ? (int)(width - used) : 1, "");
    paragraph_put(to, width, width, text);
    free(text);
}
