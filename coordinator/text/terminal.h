/* terminal.h - text from elsewhere, made fit for a terminal
 *
 * Hosts, compilers and kernels send text that may hold escape sequences.
 * Whatever came from outside passes through here before it is printed.
 */
#ifndef FA_COORDINATOR_TEXT_TERMINAL_H
#define FA_COORDINATOR_TEXT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;

/* Replace in place: control characters (C0, DEL, C1) and what is not UTF-8
 * by '?', tabs by a space.  Line feeds stay when 'lines' is true.  Returns
 * 'text'. */
char *terminal_clean(char *text, bool lines);
size_t terminal_width(const char *text); /* columns: UTF-8 code points */

/* Write out what is buffered.  0, also when the reader has gone away (a
 * closed pipe wants no more); ERR_SYSTEM when output was lost. */
int terminal_flush(FILE *to, struct err *err);

#endif
