/* refusal.h - why the system refused a file of the work folder, and what the
 * user can do about it
 */
#ifndef FA_WORKER_STORE_REFUSAL_H
#define FA_WORKER_STORE_REFUSAL_H

struct err;

/* What to do when the system refuses with this number (errno), or NULL. */
const char *refusal_remedy(int number);

/* "'PATH': REASON; REMEDY", from errno.  Returns ERR_SYSTEM. */
int refusal_of(const char *path, struct err *err);

#endif
