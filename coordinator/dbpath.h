/* dbpath.h - which database a command means when none is named */
#ifndef FA_COORDINATOR_DBPATH_H
#define FA_COORDINATOR_DBPATH_H

struct err;

/* 'given' when it is not NULL; else the database of ./sweep.json; else the
 * only *.db here.  The caller frees '*out'.  ERR_INPUT when there is no such
 * database or more than one. */
int dbpath_find(const char *given, char **out, struct err *err);

#endif
