/* include.h - the #include lines of a source, comments aside
 *
 * Conditions are not evaluated: a line in a branch that is not taken counts.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SPEC_INCLUDE_H
#define FA_COORDINATOR_SPEC_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>

struct include {
    const char *name; /* in the text */
    size_t len;
    bool quoted; /* "name", not <name> */
};

/* Find the next one from byte '*at' on and move '*at' behind it. */
bool include_next(const char *text, size_t len, size_t *at,
                  struct include *out);

#endif
