/* dbnew.h - a database that one command makes and fills at once
 *
 * It is made in a file beside it, which is renamed when it is whole.  So a
 * command that is killed leaves no database, and the same command works again:
 * it removes what the killed one left.  Meanwhile it has the lock of the
 * database that will be.
 */
#ifndef FA_COORDINATOR_STORE_DBNEW_H
#define FA_COORDINATOR_STORE_DBNEW_H

struct dbnew;
struct err;
struct store;

#define DBNEW_PART ".fa-part" /* the end of the name of the file beside it */

/* Returns 0 and what the caller must dbnew_close(), ERR_INPUT if 'path' exists,
 * or ERR_STORE. */
int dbnew_open(const char *path, struct dbnew **out, struct err *err);
struct store *dbnew_store(struct dbnew *dbnew); /* borrowed */

/* 'rc' is what came of filling it: 0 gives the file its name; an error removes
 * it and is returned.  ERR_STORE if it cannot be written or renamed.  NULL is
 * fine. */
int dbnew_close(struct dbnew *dbnew, int rc, struct err *err);

#endif
