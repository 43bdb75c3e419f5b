/* model_args.h - the command line of the sweep of one GPU model
 *
 * It has the flags of the command that sweeps several models, with the hosts
 * and the database of this one; without a budget (model_budget.h).  In a text,
 * {model} stands for the model's label; a file that each sweep must have for
 * itself gets the label before its ending.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_ARGS_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_ARGS_H

#include <stddef.h>

#include "coordinator/tasks/run_settings.h"

#define MODEL_ARGS_MAX (RUN_FLAGS_MAX + 8)

struct model_args {
    char *items[MODEL_ARGS_MAX + 1]; /* ends in NULL */
    size_t n;
};

/* What differs between the models. */
struct model_own {
    const char *label;
    const char *hosts; /* FILE#MODEL, or NULL */
    const char *db;    /* NULL: the sweep's own choice */
};

/* 'format' as printf(); the text is copied. */
void model_args_add(struct model_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Add the flags of 'set' as "--name=value". */
void model_args_flags(struct model_args *args, const struct run_settings *set,
                      enum run_kind kind, const struct model_own *own);
void model_args_fini(struct model_args *args);

/* 'text' with the label for each {model}; for the caller to free. */
char *model_args_expand(const char *text, const char *label);
/* The same; without {model} in it, "a/x.db" becomes "a/x.l4.db". */
char *model_args_file(const char *path, const char *label);

/* The exit code of a command over several models: theirs if all agree, that of
 * the signal if one was interrupted, else EXIT_PARTIAL. */
int model_args_code(const int *codes, size_t n);

#endif
