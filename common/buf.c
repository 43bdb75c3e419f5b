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

bool buf_add(struct buf *buf, const void *bytes, size_t len)
{
    bool fits = len <= buf->max - buf->len;

    if (!fits) {
        len = buf->max - buf->len;
        buf->truncated = true;
    }
    if (buf->len + len + 1 > buf->cap) {
        size_t cap = buf->cap ? buf->cap : 256;

        while (cap < buf->len + len + 1)
            cap *= 2;
        buf->bytes = mem_grow(buf->bytes, cap, 1);
        buf->cap = cap;
    }
    if (len)
        memcpy(buf->bytes + buf->len, bytes, len);
    buf->len += len;
    buf->bytes[buf->len] = '\0';
    return fits;
}

bool buf_printf(struct buf *buf, const char *fmt, ...)
{
    char *text;
    va_list ap;
    int n;
    bool fits;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
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
