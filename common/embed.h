/* embed.h - files that travel inside a program (cmake/embed.cmake)
 *
 * The runner's sources live in fa-worker and the device primitives in
 * fa-coord, so that one file is all there is to install.
 */
#ifndef FA_COMMON_EMBED_H
#define FA_COMMON_EMBED_H

#include <stddef.h>

struct embed {
    const char *name; /* path below the folder that embeds it; NULL ends */
    const unsigned char *bytes; /* a NUL follows them */
    size_t len;
};

#endif
