/* terminal.h - makes text from outside safe for a terminal
 *
 * Hosts, compilers and kernels send text that may contain escape sequences.
 * All text from outside passes through here before it is printed.
 */
#ifndef FA_COORDINATOR_TEXT_TERMINAL_H
#define FA_COORDINATOR_TEXT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;

/* Replace in place: control characters (C0, DEL, C1) and bytes that are not
 * UTF-8 become '?', tabs become a space.  If 'lines' is true, line feeds stay.
 * Returns 'text'. */
char *terminal_clean(char *text, bool lines);
size_t terminal_width(const char *text); /* columns: UTF-8 code points */

/* Flush the output.  Returns 0, also if the reader has closed the pipe and
 * wants no more; ERR_SYSTEM if output was lost. */
int terminal_flush(FILE *to, struct err *err);

#endif
