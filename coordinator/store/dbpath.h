/* dbpath.h - which database a command means when none is named */
#ifndef FA_COORDINATOR_STORE_DBPATH_H
#define FA_COORDINATOR_STORE_DBPATH_H

struct err;

/* 'given' if it is not NULL; else the database of ./sweep.json; else the only
 * *.db in the current folder.  The caller frees '*out'.  ERR_INPUT if there is
 * no such database or more than one. */
int dbpath_find(const char *given, char **out, struct err *err);

/* The database of a sweep file, NAME.db beside it.  'sweep' is the file, a
 * folder that holds a sweep.json, or the database itself.  ERR_INPUT if the
 * file cannot be read or has no name. */
int dbpath_of_sweep(const char *sweep, char **out, struct err *err);

#endif
