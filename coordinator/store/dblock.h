/* dblock.h - one coordinator a database: the lock file NAME.db.lock
 *
 * The lock is flock(2) on the file, so it ends with its process however that
 * ends; what the file says (pid, machine, since) is only for people.  The
 * file itself stays: removing it would let two processes lock two files.  So
 * who has the lock looks before each commit whether the file is still there.
 * A file with several names would have several locks: dbfile_check() refuses
 * it.
 * Thread rule: any thread, one at a time.
 */
#ifndef FA_COORDINATOR_STORE_DBLOCK_H
#define FA_COORDINATOR_STORE_DBLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct dblock_holder {
    int64_t pid; /* 0 when the file does not say */
    char machine[80];
    int64_t since_utc;
};

/* Lock the database at 'path'.  Returns a descriptor for dblock_release(),
 * ERR_STORE naming who holds it or why it cannot be locked. */
int dblock_take(const char *path, struct err *err);
/* The file may have been removed: lock the new one, which is '*fd' then.
 * ERR_STORE if another process has it: nothing may be written any more. */
int dblock_renew(const char *path, int *fd, struct err *err);
void dblock_release(int fd); /* -1 is fine */

/* Lock 'path' until dblock_drop(), for a command that opens it several times
 * and what goes with it: meanwhile dblock_take() gives this process the lock
 * again.  ERR_STORE only if another process has it; what else is wrong with the
 * path is for the one that opens it to say.  One database at a time. */
int dblock_keep(const char *path, struct err *err);
void dblock_drop(void); /* nothing kept is fine */

/* The path of the lock file of the database itself, whatever symbolic links
 * lead to it; the same before it is made.  The caller frees it. */
char *dblock_name(const char *path);

/* Is a coordinator at work on this database, and which? */
bool dblock_is_held(const char *path, struct dblock_holder *out);

#endif
