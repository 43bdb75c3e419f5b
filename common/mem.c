#include "common/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        abort();
    return p;
}

void *mem_grow(void *old, size_t n, size_t size)
{
    void *p;

    if (size && n > SIZE_MAX / size)
        abort();
    p = realloc(old, n == 0 || size == 0 ? 1 : n * size);
    if (!p)
        abort();
    return p;
}

void *mem_dup(const void *bytes, size_t len)
{
    char *p = mem_new(len + 1, 1);

    if (len)
        memcpy(p, bytes, len);
    return p;
}

char *mem_strdup(const char *text)
{
    return mem_dup(text, strlen(text));
}

char *mem_printf(const char *fmt, ...)
{
    char *text;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    return text;
}
