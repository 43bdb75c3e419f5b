/* salvage.h - copies what can be read of a damaged database of an older format
 *
 * The steps to the newest format read whole tables, so one page that cannot be
 * read would end them.  Of the copy they can read everything.
 */
#ifndef FA_COORDINATOR_STORE_SALVAGE_H
#define FA_COORDINATOR_STORE_SALVAGE_H

struct buf;
struct err;
struct sqlite3;

/* Into 'to', which has the tables of the same format; what else is in them is
 * dropped.  'lost' gets " NAME " of each table of which some rows could not be
 * read.  ERR_STORE if 'to' cannot be written. */
int salvage(struct sqlite3 *from, struct sqlite3 *to, struct buf *lost,
            struct err *err);

#endif
