/* prune_answer.h - fa-worker --prune, whose answer fa-coord prune reads
 *
 * On stdout, after a line feed that ends what a login shell may have printed:
 *
 *   fa-prune 1
 *   busy TEXT                    a worker runs in the folder
 *   removed KIND BYTES AGE PATH  also what a dry run would remove
 *   kept KIND BYTES AGE PATH
 *   why TEXT                     of the line before, which is kept
 *   end
 *
 * BYTES is the size, AGE is in seconds, and PATH is absolute.
 */
#ifndef FA_WORKER_MAIN_PRUNE_ANSWER_H
#define FA_WORKER_MAIN_PRUNE_ANSWER_H

#include <stdbool.h>

/* 'workdir' NULL: the default.  'older' is a number of seconds, as text.
 * Returns the exit status; an error has been printed. */
int prune_answer(const char *workdir, const char *older, bool dry_run);

#endif
