/* dbfile.h - the file of a sweep's database: whose it is, and its format
 *
 * A database carries FA's application id and, as user_version, the number of
 * its format.  Format n is what the first n steps make of an empty file; a new
 * database is made at once.  To change the schema: change schema/schema.sql,
 * append a step that does the same to an existing database, never touch an old
 * step.  Steps may say checksum_row(...) for the checksum of columns
 * (checksum.h).
 */
#ifndef FA_COORDINATOR_STORE_DBFILE_H
#define FA_COORDINATOR_STORE_DBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct sqlite3;

#define DBFILE_APPLICATION_ID 0x46416364 /* "FAcd" */

struct dbfile_steps {
    const char *newest;       /* SQL: makes format n of an empty file */
    const char *const *steps; /* SQL; steps[0] makes format 1 */
    int n;
    int readable; /* formats from here on look the same to a reader; <= n */
    /* What SQL cannot say, behind the steps and in their transaction; or NULL.
     * Left out if it finds the file corrupt, so that other rows can be read. */
    int (*finish)(struct sqlite3 *db, struct err *err);
};

/* Open 'path', which must exist, to read: never creates or changes it.  An
 * older format is copied into memory and brought up to date there, so that old
 * databases can be read, unless it does not fit there.
 * 'lost' is NULL, or damage is no error as long as something can be read: of a
 * file that is cut off, the pages that are there, and of an older format, rows
 * around damage.  'lost' gets what salvage.h says. */
int dbfile_read(const char *path, struct dbfile_steps steps, struct buf *lost,
                struct sqlite3 **out, struct err *err);

/* Can 'path' be a database to write?  With 'create' a missing file is made,
 * empty, with mode 0600.  Call it before the lock and dbfile_write(). */
int dbfile_check(const char *path, bool create, struct err *err);

/* Is it missing, or was it never made a database: empty, or without a format?
 * What cannot be read is not new. */
bool dbfile_is_new(const char *path);

/* Open 'path' to write, bring it to the newest format, in WAL mode with
 * synchronous=FULL.  With 'create' an empty file becomes a new database. */
int dbfile_write(const char *path, struct dbfile_steps steps, bool create,
                 struct sqlite3 **out, struct err *err);
/* An empty database in memory, which the SQL text 'newest' makes. */
int dbfile_newest(const char *newest, struct sqlite3 **out, struct err *err);
/* Before its writer closes it: all that was committed goes from the WAL into
 * the file, also while others read, if they let it for a second. */
void dbfile_settle(struct sqlite3 *db);
void dbfile_close(struct sqlite3 *db); /* NULL is fine */

/* May a database of this size be copied into memory?  Not above 2 GiB. */
bool dbfile_fits_memory(int64_t bytes);

/* Is this f_type of statfs(2) a file system that is shared over a network,
 * where WAL does not work?  Its name, or NULL. */
const char *dbfile_network(unsigned long f_type);

#endif
