/* landscape_db.h - the landscape that a database of a sweep holds */
#ifndef FA_COORDINATOR_INSPECT_LANDSCAPE_DB_H
#define FA_COORDINATOR_INSPECT_LANDSCAPE_DB_H

struct err;
struct landscape;

/* As landscape_load(), for a database.  ERR_STORE, or ERR_INPUT if it has no
 * result. */
int landscape_of_database(const char *path, struct landscape **out,
                          struct err *err);

#endif
