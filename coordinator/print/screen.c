#include "coordinator/print/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Also where they stand for a terminal without being one (patient_stdio.h). */
static int fd_of(FILE *to)
{
    return to == stdout   ? STDOUT_FILENO
           : to == stderr ? STDERR_FILENO
                          : fileno(to);
}

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

bool screen_size(FILE *to, size_t *columns, size_t *rows)
{
    struct winsize size;
    int fd = fd_of(to);

    *columns = SCREEN_COLUMNS;
    *rows = SCREEN_ROWS;
    if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
        size.ws_row == 0)
        return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return true;
}

size_t screen_columns(FILE *to)
{
    int fd = fd_of(to);
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

/* Does the terminal know what to do with escape sequences? */
static bool is_terminal(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

bool screen_is_live(FILE *to)
{
    int fd = fd_of(to);

    return fd >= 0 && !is_set("NO_COLOR") && is_terminal(fd);
}

bool screen_has_colours(FILE *to)
{
    const char *force = getenv("CLICOLOR_FORCE");
    int fd = fd_of(to);

    if (fd < 0 || is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return is_terminal(fd);
}

const char *screen_code(enum screen_style style)
{
    static const char *const codes[] = {
        [SCREEN_PLAIN] = "0", [SCREEN_STRONG] = "1", [SCREEN_GOOD] = "32",
        [SCREEN_BAD] = "31",  [SCREEN_DOUBT] = "33", [SCREEN_FAINT] = "2",
    };

    return codes[style];
}

void screen_put(FILE *to, enum screen_style style, const char *text)
{
    if (style == SCREEN_PLAIN || !screen_has_colours(to))
        fputs(text, to);
    else
        fprintf(to, "\033[%sm%s\033[0m", screen_code(style), text);
}

void screen_heading(FILE *to, const char *text)
{
    fputc('\n', to);
    screen_put(to, SCREEN_STRONG, text);
    fputc('\n', to);
}
