/* embed.h - files embedded in a program (cmake/embed.cmake)
 *
 * fa-worker contains the runner's sources and fa-coord the device primitives,
 * so that each program is one file.
 */
#ifndef FA_COMMON_EMBED_H
#define FA_COMMON_EMBED_H

#include <stddef.h>

struct embed {
    const char *name; /* path below the embedding folder; NULL ends the list */
    const unsigned char *bytes; /* a NUL follows them */
    size_t len;
};

#endif
