/* manual.h - manual pages, in the language of man(7) */
#ifndef FA_COORDINATOR_USAGE_MANUAL_H
#define FA_COORDINATOR_USAGE_MANUAL_H

#include <stdio.h>

struct options;

/* fa-coord(1): all commands, exit codes, files and environment. */
void manual_program(FILE *to);

/* fa-coord-COMMAND(1), as an options_show (options.h): prints to 'to', a
 * FILE. */
void manual_command(const struct options *options, void *to);

#endif
