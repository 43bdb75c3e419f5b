/* prune_local.h - what lies beside a database and is not needed any more
 *
 *   NAME.db-wal, NAME.db-shm   of a database that is gone
 *   NAME.fuzz.db               the proof of a sweep that is done; a
 * confirmation would make it again
 *   *.fa-part                  what killed commands left in the folder
 *   NAME.db.SECONDS            what sweep --fresh set aside, if it is asked for
 *
 * Nothing else is looked at.  The database is locked meanwhile, and what a
 * coordinator works on stays.
 */
#ifndef FA_COORDINATOR_PRUNE_PRUNE_LOCAL_H
#define FA_COORDINATOR_PRUNE_PRUNE_LOCAL_H

#include <stdint.h>

struct err;
struct prune_list;

/* 'db' need not exist; its folder must.  'now_s' is of time(2).  Adds to
 * 'list'.  ERR_INPUT */
int prune_local(const char *db, int64_t now_s, struct prune_list *list,
                struct err *err);

#endif
