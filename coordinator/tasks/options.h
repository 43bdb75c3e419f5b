/* options.h - the flags of a command, from a table
 *
 *   --flag  --name VALUE  --name=VALUE  --  and plain arguments, in any order
 *
 * The table makes the parser and the help.  Unknown flags come with a
 * suggestion; a flag given twice (unless it is a list), or together with one
 * that excludes it, is an error.
 */
#ifndef FA_COORDINATOR_TASKS_OPTIONS_H
#define FA_COORDINATOR_TASKS_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

struct err;

enum option_kind {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char *, borrowed from argv */
    OPTION_INT,  /* int64_t, >= 0 */
    OPTION_REAL, /* double, finite and >= 0 */
    OPTION_LIST, /* struct option_list: texts, may be given again and again */
};

#define OPTION_LIST_MAX 64

struct option_list {
    const char *items[OPTION_LIST_MAX]; /* borrowed from argv */
    size_t n;
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *out;            /* keeps its value when the flag is not given */
    const char *value;    /* what the help calls it: FILE, N, sm_89|... */
    const char *help;     /* one line */
    const char *excludes; /* names of other flags, blanks between; or NULL */
};

struct options {
    const char *command;   /* space */
    const char *arguments; /* "[SWEEP]", "" for none */
    const char *what;      /* one line */
    const struct option *list;
    size_t n;
    int arguments_min, arguments_max;
    const char **plain; /* [arguments_max], for the plain arguments */
};

enum {
    OPTIONS_HELP = 1
};

/* Read the flags after argv[0].  Returns 0 with the results filled in and
 * plain arguments that are not given NULL, OPTIONS_HELP when --help was asked
 * for and has been printed to stdout, or ERR_INPUT. */
int options_parse(const struct options *options, int argc, char *argv[],
                  struct err *err);
void options_help(const struct options *options, FILE *to);

#endif
