/* tool_line.h - questions and answers, a line each, of a tool that stays
 *
 * The tool reads a line from its stdin for each run, and answers with a line on
 * its stdout.  Nothing waits: the pipes are those of an interactive child.
 */
#ifndef FA_WORKER_TOOL_TOOL_LINE_H
#define FA_WORKER_TOOL_TOOL_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct child;

struct tool_line {
    struct buf text;     /* of the answer so far, without its end */
    bool ended, flooded; /* the line is complete; it is longer than 'max' */
    bool more;           /* something came after it */
};

void tool_line_init(struct tool_line *line, size_t max);
void tool_line_fini(struct tool_line *line);

/* Write a question, a line without its end, and expect an answer.  False if it
 * does not take it at once, or has said something that nobody asked for. */
bool tool_line_ask(struct tool_line *line, const struct child *child,
                   const char *question);
/* Take what has arrived, to the end of the answer. */
void tool_line_read(struct tool_line *line, const struct child *child);

#endif
