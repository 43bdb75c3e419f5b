/* dbfile.h - the file of a sweep's database: ours, of this version, or refused
 *
 * A database carries FA's application id and, as user_version, the number of
 * its format.  To change the schema: change schema.sql, which makes the newest
 * format, and append a step that alters an existing database likewise; never
 * touch an old step.  The steps can say checksum_row(...) for the checksum of
 * columns (checksum.h).
 */
#ifndef FA_COORDINATOR_DBFILE_H
#define FA_COORDINATOR_DBFILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct sqlite3;

#define DBFILE_APPLICATION_ID 0x46416364 /* "FAcd" */

struct dbfile_steps {
    /* SQL: steps[0] makes format n of nothing, steps[k] k + 1 of format k */
    const char *const *steps;
    int n;
};

/* Open 'path', which must exist, to read: never creates or changes it. */
int dbfile_read(const char *path, struct dbfile_steps steps,
                struct sqlite3 **out, struct err *err);

/* Can 'path' be a database that we write?  With 'create' a missing file is
 * made, empty, mode 0600.  Comes before the lock and dbfile_write(). */
int dbfile_check(const char *path, bool create, struct err *err);

/* Open 'path' to write, bring it to the newest format, in WAL mode with
 * synchronous=FULL.  With 'create' an empty file becomes a new database. */
int dbfile_write(const char *path, struct dbfile_steps steps, bool create,
                 struct sqlite3 **out, struct err *err);
void dbfile_close(struct sqlite3 *db); /* NULL is fine */

/* Is this f_type of statfs(2) a file system that is shared over a network,
 * where WAL does not work?  Its name, or NULL. */
const char *dbfile_network(unsigned long f_type);

#endif
