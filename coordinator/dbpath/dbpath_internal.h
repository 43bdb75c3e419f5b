/* dbpath_internal.h - shared by the files of dbpath
 */
#ifndef FA_COORDINATOR_DBPATH_DBPATH_INTERNAL_H
#define FA_COORDINATOR_DBPATH_DBPATH_INTERNAL_H

struct dirent;

/* The name in a sweep file with ".db", in 'folder'; or NULL.  The sweep file is
 * only a hint here, so its errors are not reported. */
char *dbpath_of_file(const char *file, const char *folder);

/* For scandir().  Databases of fuzz, which stand beside that of a sweep, are
 * not meant. */
int dbpath_is_database(const struct dirent *entry);

#endif
