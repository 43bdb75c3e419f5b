/* utf8.h - is this UTF-8? */
#ifndef FA_COORDINATOR_TEXT_UTF8_H
#define FA_COORDINATOR_TEXT_UTF8_H

#include <stddef.h>

/* Length in bytes of the well-formed sequence (RFC 3629) at the start of the
 * NUL-terminated 'text': 1 to 4, or 0 if it is not well-formed. */
size_t utf8_sequence(const char *text);

#endif
