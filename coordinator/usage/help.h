/* help.h - the help of a command: usage, flags, examples */
#ifndef FA_COORDINATOR_USAGE_HELP_H
#define FA_COORDINATOR_USAGE_HELP_H

#include <stdio.h>

struct options;

/* All commands, and the exit codes. */
void help_commands(FILE *to);

/* An options_show (options.h): prints to 'to', a FILE. */
void help_command(const struct options *options, void *to);

#endif
