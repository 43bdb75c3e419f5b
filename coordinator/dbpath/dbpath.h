/* dbpath.h - which database a command means when none is named */
#ifndef FA_COORDINATOR_DBPATH_DBPATH_H
#define FA_COORDINATOR_DBPATH_DBPATH_H

#include <stddef.h>

struct err;

#define DBPATH_MODELS_MAX 16

/* NAME.LABEL.db of each model of GPU (docs/gpu-models.md). */
struct dbpath_models {
    char *labels[DBPATH_MODELS_MAX];
    char *paths[DBPATH_MODELS_MAX];
    size_t n;
};

/* 'given' if it is not NULL; else the database of ./sweep.json; else the only
 * *.db in the current folder.  The caller frees '*out'.  ERR_INPUT if there is
 * no such database or more than one; a sweep over several models of GPU has
 * one for each.  Likewise if 'given' is a sweep file or a folder. */
int dbpath_find(const char *given, char **out, struct err *err);

/* ERR_INPUT if 'config', the second argument of 'command', is a database and
 * the first is not: the order is DB CONFIG. */
int dbpath_check_order(const char *command, const char *db, const char *config,
                       struct err *err);

/* The database of a sweep file, NAME.db beside it.  'sweep' is the file, a
 * folder that holds a sweep.json, or the database itself.  ERR_INPUT if the
 * file cannot be read or has no name. */
int dbpath_of_sweep(const char *sweep, char **out, struct err *err);

/* Where 'file', which the database names, is now: NULL if it is there still, or
 * if it is neither there nor beside the database, with which it may have been
 * moved.  The caller frees it. */
char *dbpath_moved(const char *file, const char *db);

/* Those of ./sweep.json, or all *.db in the current folder, sorted by label: at
 * least two, or none if there is one of the sweep itself. */
void dbpath_models_find(struct dbpath_models *out);
/* These databases; the label of a/NAME.l4.db is l4, of others their name. */
void dbpath_models_given(const char *const *paths, size_t n,
                         struct dbpath_models *out);
void dbpath_models_fini(struct dbpath_models *models);

#endif
