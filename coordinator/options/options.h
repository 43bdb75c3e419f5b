/* options.h - the flags of a command, from a table
 *
 *   --flag  --name VALUE  --name=VALUE  --  and plain arguments, in any order
 *
 * The table defines the parser and the help.  An unknown flag gets a
 * suggestion.  A flag that is given twice (unless it is a list), with one that
 * it excludes, or without one that it needs, is an error.
 */
#ifndef FA_COORDINATOR_OPTIONS_OPTIONS_H
#define FA_COORDINATOR_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;

enum option_kind {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char *, borrowed from argv */
    OPTION_INT,  /* int64_t, >= 0 */
    OPTION_REAL, /* double, finite and >= 0 */
    OPTION_LIST, /* struct option_list: texts, may be repeated */
};

#define OPTION_LIST_MAX 64

struct option_list {
    const char *items[OPTION_LIST_MAX]; /* borrowed from argv */
    size_t n;
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *out;            /* unchanged if the flag is not given */
    const char *value;    /* name of the value in the help: FILE, N,
                           * sm_89|... */
    const char *help;     /* one line */
    const char *excludes; /* names of other flags, separated by blanks; or
                           * NULL */
};

struct options {
    const char *command;   /* space */
    const char *arguments; /* "[SWEEP]"; "" if there are none */
    const char *what;      /* one line */
    const struct option *list;
    size_t n;
    /* Names of flags that have an effect only with the flag 'needed'; NULL if
     * there are none. */
    const char *needing, *needed;
    /* The flag that says the same as the first plain argument, which is then
     * left out; or NULL.  That argument is there if as many are given as there
     * may be, or if it ends in ".db", or if all arguments are of its kind. */
    const char *first_flag;
    bool all_first;
    int arguments_min, arguments_max;
    const char **plain; /* [arguments_max], for the plain arguments */
};

enum {
    OPTIONS_HELP = 1
};

/* A value for a flag that the command line does not give. */
struct option_default {
    const char *command; /* NULL: for every command that has the flag */
    const char *name, *value;
    const char *origin; /* for messages: "FA_COORD_HOSTS", "config:3" */
};

/* Use these from now on; of several for a flag the last one counts, and one
 * that names the command counts more than one that does not.  The list is
 * borrowed.  A default is ignored where the command line has a flag that
 * excludes it, or lacks one that it needs. */
void options_set_defaults(const struct option_default *list, size_t n);

/* From now on --help calls this instead of printing to stdout, so that help,
 * manual and completion come from the same tables. */
typedef void options_show(const struct options *options, void *to);
void options_on_help(options_show *show, void *to);

/* Parse the flags after argv[0]. Returns 0 with the results filled in; plain
 * arguments that are not given are NULL. Returns OPTIONS_HELP if --help or -h
 * was given and has been answered, or ERR_INPUT. */
int options_parse(const struct options *options, int argc, char *argv[],
                  struct err *err);
/* What help shows as the value of a flag: of many choices, which its text
 * explains, only that it is one of them; "" for a flag without a value. */
const char *options_value(const struct option *option);

/* Usage, purpose and flags, as wide as the output. */
void options_help(const struct options *options, FILE *to);

#endif
