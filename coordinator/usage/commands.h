/* commands.h - the commands of a program, and what each is for
 *
 * Help, manual pages and completions are made from this table and from the
 * flags that each command gives to options_parse().
 */
#ifndef FA_COORDINATOR_USAGE_COMMANDS_H
#define FA_COORDINATOR_USAGE_COMMANDS_H

#include <stddef.h>

#include "coordinator/options/options.h"

struct command {
    const char *name;
    int (*run)(int argc, char *argv[]);
    const char *help; /* one line */
    /* Lines of "COMMAND  # what it does", each with its line feed; "" if there
     * are none. */
    const char *examples;
};

/* The commands from now on; the list is borrowed. */
void commands_set(const struct command *list, size_t n);

const struct command *commands_at(size_t i); /* NULL after the last one */
const struct command *commands_find(const char *name); /* or NULL */

/* The name of a command that is spelt like this one; NULL if none is. */
const char *commands_near(const char *name);

/* Call 'take' with the flags of a command. */
void commands_options(const struct command *command, options_show *take,
                      void *to);

#endif
