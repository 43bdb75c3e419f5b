/* caret.h - a message that points at a place in a user's file
 *
 *   hosts.txt:3:12: unknown attribute 'rat'
 *     gpu7  rat=0.68
 *           ^
 *   attributes are role gpus ...; did you mean 'rate'?
 *
 * Long lines are cut to a window around the caret; control characters are shown
 * as blanks, so a file cannot write to the terminal.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_TEXT_CARET_H
#define FA_COORDINATOR_TEXT_CARET_H

#include <stdarg.h>
#include <stddef.h>

struct err;

/* One line of a file; the text is borrowed. */
struct caret_line {
    const char *file;
    int number;       /* from 1 */
    const char *text; /* without its line end; need not end in a NUL */
    size_t len;
};

/* A whole file; the text is borrowed. */
struct caret_text {
    const char *file;
    const char *text;
    size_t len;
};

/* Record the message with a caret under 'at', which points into the line or at
 * its end.  'why' explains why it is wrong and what to do.  Returns
 * ERR_INPUT. */
int caret_err(struct err *err, const struct caret_line *line, const char *at,
              const char *why, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The same at byte 'at' (at most len) of a file. */
int caret_text_err(struct err *err, const struct caret_text *text, size_t at,
                   const char *why, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int caret_text_verr(struct err *err, const struct caret_text *text, size_t at,
                    const char *why, const char *fmt, va_list ap);
/* The number, from 1, of the line that holds byte 'at'. */
int caret_line_number(const struct caret_text *text, size_t at);

#endif
