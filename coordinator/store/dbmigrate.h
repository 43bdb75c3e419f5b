/* dbmigrate.h - brings an open database to the newest format (dbfile.h) */
#ifndef FA_COORDINATOR_STORE_DBMIGRATE_H
#define FA_COORDINATOR_STORE_DBMIGRATE_H

#include "coordinator/store/dbfile.h"

struct buf;
struct err;
struct sqlite3;

/* From 'format'; 0 is an empty file.  ERR_STORE: nothing was changed. */
int dbmigrate(struct sqlite3 *db, const char *path, int format,
              struct dbfile_steps steps, struct err *err);

/* Make that format of the empty database 'to', and copy into it what can be
 * read of 'from'; 'lost' as for salvage(). */
int dbmigrate_salvage(struct sqlite3 *from, struct sqlite3 *to, int format,
                      struct dbfile_steps steps, struct buf *lost,
                      struct err *err);

#endif
