#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* vasprintf(), the program's name */
#endif
#include "common/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXIT_CODE 1

/* Nothing here allocates, and no exit handler may run: it might. */
void mem_exhausted(void)
{
    static char why[] =
        ": out of memory: free some, or raise 'ulimit -v'; "
        "what is stored stays, and the same command continues\n";
    const struct iovec parts[] = {
        { program_invocation_short_name,
          strlen(program_invocation_short_name) },
        { why, sizeof(why) - 1 },
    };

    (void)!writev(STDERR_FILENO, parts, 2); /* there is no other place */
    _exit(EXIT_CODE);
}

void mem_check(const void *got)
{
    if (!got && errno == ENOMEM)
        mem_exhausted();
}

void *mem_new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        mem_exhausted();
    return p;
}

void *mem_grow(void *old, size_t n, size_t size)
{
    void *p;

    if (size && n > SIZE_MAX / size)
        mem_exhausted();
    p = realloc(old, n == 0 || size == 0 ? 1 : n * size);
    if (!p)
        mem_exhausted();
    return p;
}

void *mem_dup(const void *bytes, size_t len)
{
    char *p = mem_grow(NULL, len + 1, 1);

    if (len)
        memcpy(p, bytes, len);
    p[len] = '\0';
    return p;
}

char *mem_strdup(const char *text)
{
    return mem_dup(text, strlen(text));
}

FILE *mem_stream(char **text, size_t *len)
{
    FILE *stream = open_memstream(text, len);

    if (!stream)
        mem_exhausted();
    return stream;
}

void mem_stream_close(FILE *stream, char *const *text)
{
    bool failed = ferror(stream) != 0;

    if (fclose(stream) != 0 || failed || !*text)
        mem_exhausted();
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
        mem_exhausted();
    return text;
}
