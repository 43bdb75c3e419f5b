/* utf8.h - is this UTF-8? */
#ifndef FA_COORDINATOR_TEXT_UTF8_H
#define FA_COORDINATOR_TEXT_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed sequence (RFC 3629) that 'text', NUL-terminated,
 * begins with: 1 to 4, or 0 when there is none. */
size_t utf8_sequence(const char *text);

#endif
