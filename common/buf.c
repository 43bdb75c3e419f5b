#include "common/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){ .max = max };
}

void buf_fini(struct buf *buf)
{
    free(buf->bytes);
    buf_init(buf, buf->max);
}

/* Room for 'len' bytes more and the NUL. */
static void reserve(struct buf *buf, size_t len)
{
    size_t cap = buf->cap ? buf->cap : 256;

    if (buf->len + len + 1 <= buf->cap)
        return;
    while (cap < buf->len + len + 1)
        cap *= 2;
    buf->bytes = mem_grow(buf->bytes, cap, 1);
    buf->cap = cap;
}

bool buf_add(struct buf *buf, const void *bytes, size_t len)
{
    bool fits = len <= buf->max - buf->len;

    if (!fits) {
        len = buf->max - buf->len;
        buf->truncated = true;
    }
    reserve(buf, len);
    if (len)
        memcpy(buf->bytes + buf->len, bytes, len);
    buf->len += len;
    buf->bytes[buf->len] = '\0';
    return fits;
}

bool buf_str(struct buf *buf, const char *text)
{
    return buf_add(buf, text, strlen(text));
}

bool buf_int(struct buf *buf, int64_t number)
{
    char digits[20]; /* a sign and 19 digits */
    size_t at = sizeof(digits);
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        digits[--at] = '-';
    return buf_add(buf, digits + at, sizeof(digits) - at);
}

/* Format into the free room; if that is too small, into a temporary text. */
bool buf_printf(struct buf *buf, const char *fmt, ...)
{
    size_t room;
    char *text;
    va_list ap;
    int n;
    bool fits;

    reserve(buf, 0);
    room = buf->cap - buf->len;
    va_start(ap, fmt);
    n = vsnprintf(buf->bytes + buf->len, room, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < room && (size_t)n <= buf->max - buf->len) {
        buf->len += (size_t)n;
        return true;
    }
    buf->bytes[buf->len] = '\0';
    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        mem_exhausted();
    fits = buf_add(buf, text, (size_t)n);
    free(text);
    return fits;
}

void buf_take(struct buf *buf, size_t n)
{
    assert(n <= buf->len);
    if (n == 0)
        return;
    buf->len -= n;
    memmove(buf->bytes, buf->bytes + n, buf->len + 1);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->truncated = false;
    if (buf->bytes)
        buf->bytes[0] = '\0';
}

const char *buf_text(const struct buf *buf)
{
    return buf->bytes ? buf->bytes : "";
}

void buf_blank_nuls(struct buf *buf)
{
    for (size_t i = 0; i < buf->len; i++)
        if (!buf->bytes[i])
            buf->bytes[i] = ' ';
}
