#include "coordinator/print/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A number above 0, or 0. */
static size_t from_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    long value;

    if (!text || !*text)
        return 0;
    value = strtol(text, &end, 10);
    if (*end || value <= 0)
        return 0;
    return value < (long)SCREEN_COLUMNS_ANY ? (size_t)value
                                            : SCREEN_COLUMNS_ANY;
}

size_t screen_columns(FILE *to)
{
    int fd = fileno(to);
    size_t columns;
    struct winsize size;

    if (fd < 0)
        return SCREEN_COLUMNS_ANY;
    columns = from_environment();
    if (columns == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0)
        return SCREEN_COLUMNS;
    return columns < SCREEN_COLUMNS_LEAST ? SCREEN_COLUMNS_LEAST : columns;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

bool screen_has_colours(FILE *to)
{
    const char *term = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    int fd = fileno(to);

    if (fd < 0 || is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void screen_put(FILE *to, enum screen_style style, const char *text)
{
    static const char *const codes[] = {
        [SCREEN_PLAIN] = "0", [SCREEN_STRONG] = "1", [SCREEN_GOOD] = "32",
        [SCREEN_BAD] = "31",  [SCREEN_DOUBT] = "33", [SCREEN_FAINT] = "2",
    };

    if (style == SCREEN_PLAIN || !screen_has_colours(to))
        fputs(text, to);
    else
        fprintf(to, "\033[%sm%s\033[0m", codes[style], text);
}

void screen_heading(FILE *to, const char *text)
{
    fputc('\n', to);
    screen_put(to, SCREEN_STRONG, text);
    fputc('\n', to);
}
