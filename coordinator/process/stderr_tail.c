#include "coordinator/process/stderr_tail.h"

#include <stdio.h>
#include <string.h>

void stderr_tail_add(struct stderr_tail *tail, const char *bytes, size_t len)
{
    size_t keep;

    if (len > STDERR_TAIL_BYTES) {
        bytes += len - STDERR_TAIL_BYTES;
        len = STDERR_TAIL_BYTES;
    }
    if (tail->len + len > sizeof(tail->text) - 1) {
        keep = STDERR_TAIL_BYTES - len;
        memmove(tail->text, tail->text + tail->len - keep, keep);
        tail->len = keep;
    }
    memcpy(tail->text + tail->len, bytes, len);
    tail->len += len;
    tail->text[tail->len] = '\0';
}

/* The start of the last 'lines' non-empty lines. */
static const char *last_lines(const struct stderr_tail *tail, int lines)
{
    const char *p = tail->text + tail->len;

    while (p > tail->text) {
        if (p[-1] == '\n' && *p && *p != '\n' && *p != '\r' && --lines == 0)
            return p;
        p--;
    }
    return p;
}

void stderr_tail_say(const struct stderr_tail *tail, int lines, char *out,
                     size_t size)
{
    const char *p = last_lines(tail, lines);
    size_t n = 0, left = strlen(p);

    if (left + 3 + (size_t)lines > size && size > 3 + (size_t)lines)
        p += left - (size - 3 - (size_t)lines); /* the end is more useful */
    for (; *p && n + 3 < size; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '\n' && n > 0 && out[n - 1] != ' ') {
            out[n++] = ';';
            out[n++] = ' ';
        } else if (c >= ' ' && c != 0x7f) {
            out[n++] = (char)c;
        }
    }
    while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == ';'))
        n--;
    out[n] = '\0';
}
