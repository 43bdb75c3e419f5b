#include "common/log.h"

#include <stdarg.h>

#include "common/clock.h"

static FILE *log_to;
static enum log_level log_max;

void log_setup(FILE *to, enum log_level level)
{
    log_to = to;
    log_max = level;
}

void log_line(enum log_level level, const char *id, const char *fmt, ...)
{
    char text[1024], when[CLOCK_ISO_BYTES];
    va_list ap;

    if (!log_to || level > log_max)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    clock_iso(clock_utc_ns(), when);
    fprintf(log_to, "%s %c %s %s\n", when, "EWID"[level], id, text);
    fflush(log_to);
}
