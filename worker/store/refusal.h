/* refusal.h - why the system refused a file of the work folder, and what the
 * user can do about it
 */
#ifndef FA_WORKER_STORE_REFUSAL_H
#define FA_WORKER_STORE_REFUSAL_H

#include <stdbool.h>

struct err;

/* What to do when the system refuses with this number (errno), or NULL. */
const char *refusal_remedy(int number);

/* "'PATH': REASON; REMEDY", from errno, and of a full disk how much of it is
 * free.  Returns ERR_SYSTEM. */
int refusal_of(const char *path, struct err *err);

/* Does a program that wrote below 'dir' say that the disk is full?  It names a
 * file of its own: then 'err' has the refusal of 'dir'. */
bool refusal_is_full(const char *dir, const char *text, struct err *err);

#endif
