/* secret.h - memory of fa-runner that the process of a kernel does not have
 *
 * A kernel's process is forked, so it finds what malloc() has given, freed
 * memory included.  What a kernel must not see is kept here. Its pages are zero
 * at first.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_SECRET_H
#define FA_WORKER_RUNNER_EMULATOR_SECRET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, with errno set, if there is not enough memory. */
void *secret_new(size_t bytes);
void secret_free(void *secret, size_t bytes); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
