/* suggest.h - the name that was probably meant
 *
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_TEXT_SUGGEST_H
#define FA_COORDINATOR_TEXT_SUGGEST_H

#include <stddef.h>

/* The one of 'names' that is closest to the 'len' bytes at 'word', or NULL
 * when none is close: at most one edit in three characters, where an edit
 * inserts, drops, changes or swaps a character.  Case does not count. */
const char *suggest_name(const char *word, size_t len, const char *const *names,
                         size_t n);

#define SUGGEST_BYTES 96

/* For the end of a message: "; did you mean 'NAME'?", or "" when none is
 * close.  Returns 'out', [SUGGEST_BYTES]. */
const char *suggest_ending(const char *word, size_t len,
                           const char *const *names, size_t n, char *out);

#endif
