/* screen.h - what an output can show: how wide a line may be, and colours
 *
 * A terminal is as wide as it says. Output into a file or a pipe is
 * SCREEN_COLUMNS wide, so that it fits wherever it is read. COLUMNS in the
 * environment overrules both.  Text that is kept in memory has no limit.
 *
 * Colours are for terminals only. They are off with NO_COLOR
 * (https://no-color.org) or TERM=dumb, and on in files and pipes too with
 * CLICOLOR_FORCE=1.  They repeat what a word says already.
 */
#ifndef FA_COORDINATOR_PRINT_SCREEN_H
#define FA_COORDINATOR_PRINT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SCREEN_COLUMNS 80
#define SCREEN_ROWS 24
#define SCREEN_COLUMNS_LEAST 20
#define SCREEN_COLUMNS_ANY ((size_t)1 << 30)

enum screen_style {
    SCREEN_PLAIN,
    SCREEN_STRONG, /* headings, and what is looked for */
    SCREEN_GOOD,
    SCREEN_BAD,
    SCREEN_DOUBT,
    SCREEN_FAINT, /* what may be skipped */
};

size_t screen_columns(FILE *to); /* at least SCREEN_COLUMNS_LEAST */
bool screen_has_colours(FILE *to);

/* May lines be drawn again in place?  Not with NO_COLOR or TERM=dumb, and not
 * in files and pipes. */
bool screen_is_live(FILE *to);
/* The terminal as it is now, without COLUMNS.  If it does not say, false and
 * SCREEN_COLUMNS and SCREEN_ROWS. */
bool screen_size(FILE *to, size_t *columns, size_t *rows);

const char *screen_code(enum screen_style style); /* between ESC [ and m */
/* Print text in a style, or as it is if the output has no colours. */
void screen_put(FILE *to, enum screen_style style, const char *text);

/* A heading: a blank line, then the text. */
void screen_heading(FILE *to, const char *text);

#endif
