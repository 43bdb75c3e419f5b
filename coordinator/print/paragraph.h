/* paragraph.h - text that is broken into lines as wide as the output
 *
 * A word that is wider than a line stands on a line of its own, whole, so that
 * it can be copied.
 */
#ifndef FA_COORDINATOR_PRINT_PARAGRAPH_H
#define FA_COORDINATOR_PRINT_PARAGRAPH_H

#include <stddef.h>
#include <stdio.h>

/* Print the text and a line feed. The first line begins at column 'at', where
 * the output stands already; further lines are indented by 'indent'. */
void paragraph_put(FILE *to, size_t at, size_t indent, const char *text);

/* The same, formatted, from column 0. */
void paragraph_print(FILE *to, size_t indent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Beside a label of 'width' columns, such as "Cost  0.5 GPU-hours". */
void paragraph_labelled(FILE *to, size_t width, const char *label,
                        const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Where the first line of 'text' ends if it may be 'width' wide: the bytes to
 * print, and in 'next' where the next line begins. */
size_t paragraph_line(const char *text, size_t width, const char **next);

#endif
