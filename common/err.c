#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        vsnprintf(err->text, sizeof(err->text), fmt, ap);
        va_end(ap);
    }
    errno = saved;
    return code;
}

int err_within(struct err *err, int code, const char *fmt, ...)
{
    int saved = errno;
    char inner[sizeof(err->text)];
    va_list ap;
    int n;

    if (err && code < 0) {
        memcpy(inner, err->text, sizeof(inner));
        va_start(ap, fmt);
        n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
        va_end(ap);
        if (n >= 0 && n < (int)sizeof(err->text))
            snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %.*s",
                     (int)sizeof(inner) - 1, inner);
    }
    errno = saved;
    return code;
}
