/* landscape_db.h - the landscape that a database of a sweep holds */
#ifndef FA_COORDINATOR_INSPECT_LANDSCAPE_DB_H
#define FA_COORDINATOR_INSPECT_LANDSCAPE_DB_H

#include <stddef.h>

struct err;
struct landscape;
struct report;
struct store;

/* As landscape_load(), for a database.  ERR_STORE, or ERR_INPUT if it has no
 * result. */
int landscape_of_database(const char *path, struct landscape **out,
                          struct err *err);

/* The same at any shape of a report of this store. */
int landscape_of_report(struct store *store, const struct report *report,
                        size_t shape, struct landscape **out, struct err *err);

#endif
