/* stderr_tail.h - the last lines of a program's stderr, for error texts
 *
 * Stderr is always read, so that no program blocks on it.  Only its end is
 * kept.
 */
#ifndef FA_COORDINATOR_PROCESS_STDERR_TAIL_H
#define FA_COORDINATOR_PROCESS_STDERR_TAIL_H

#include <stddef.h>

#define STDERR_TAIL_BYTES 4096

struct stderr_tail {
    char text[2 * STDERR_TAIL_BYTES + 1]; /* NUL-terminated */
    size_t len;
};

void stderr_tail_add(struct stderr_tail *tail, const char *bytes, size_t len);

/* The last 'lines' non-empty lines, joined by "; ". If they are longer than
 * 'size', only their end.  Control characters are removed.  "" if there was no
 * output. */
void stderr_tail_say(const struct stderr_tail *tail, int lines, char *out,
                     size_t size);

#endif
