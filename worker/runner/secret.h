/* secret.h - memory of fa-runner that the process of a kernel does not have
 *
 * A kernel's process is forked, so it finds what malloc() has given, freed
 * memory included, and the stack.  What a kernel must not see is kept here: the
 * request, seeds, checksums, what is drawn.  Its pages are zero at first.
 */
#ifndef FA_WORKER_RUNNER_SECRET_H
#define FA_WORKER_RUNNER_SECRET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, with errno set, if there is not enough memory. */
void *secret_new(size_t bytes);
void *secret_need(size_t bytes);              /* the process ends instead */
void secret_free(void *secret, size_t bytes); /* NULL is fine */

/* For what has been a secret elsewhere. */
void secret_wipe(void *memory, size_t bytes);
/* What earlier calls have left below the stack of the caller. */
void secret_wipe_stack(void);

#ifdef __cplusplus
}
#endif

#endif
