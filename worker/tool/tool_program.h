/* tool_program.h - the program of a tool: a path, or a name to look for
 *
 * A program that is there but hidden from programs (tool_box.sandbox) counts as
 * missing.
 */
#ifndef FA_WORKER_TOOL_TOOL_PROGRAM_H
#define FA_WORKER_TOOL_TOOL_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct tool_box;

/* A name is searched in the folders of PATH, then in that of the compiler,
 * because a toolkit includes tools.  A path must be absolute. */
bool tool_program_find(const struct tool_box *box, const char *name,
                       char path[PATH_MAX]);

/* Why it was not found: one line for a person. */
void tool_program_missing(const struct tool_box *box, const char *name,
                          char *why, size_t size);

#endif
