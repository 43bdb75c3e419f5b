/* include.h - the #include lines of a source, comments aside
 *
 * Conditions are not evaluated: an #include in an inactive branch counts.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_INCLUDE_H
#define FA_COORDINATOR_SOURCE_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>

struct include {
    const char *name; /* in the text */
    size_t len;
    bool quoted; /* "name", not <name> */
};

/* Find the next one from byte '*at' on, and move '*at' past it. */
bool include_next(const char *text, size_t len, size_t *at,
                  struct include *out);

#endif
