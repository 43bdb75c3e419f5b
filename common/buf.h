/* buf.h - a growing byte buffer with a stated ceiling
 *
 * Everything that is read from outside goes into one of these, so no peer,
 * child or file can decide how much memory is used.
 */
#ifndef FA_COMMON_BUF_H
#define FA_COMMON_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *bytes; /* NUL-terminated for convenience; NULL while empty */
    size_t len;  /* without the NUL */
    size_t cap;
    size_t max;     /* len never exceeds it */
    bool truncated; /* something did not fit and was dropped */
};

void buf_init(struct buf *buf, size_t max);
void buf_fini(struct buf *buf);

/* Append.  What does not fit below 'max' is dropped, and 'truncated' is set.
 * Returns true if all of it fitted. */
bool buf_add(struct buf *buf, const void *bytes, size_t len);
bool buf_str(struct buf *buf, const char *text);
bool buf_int(struct buf *buf, int64_t number); /* in decimal */
/* The arguments must not point into the buffer. */
bool buf_printf(struct buf *buf, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_take(struct buf *buf, size_t n); /* drop the first n bytes */
void buf_clear(struct buf *buf);
const char *buf_text(const struct buf *buf); /* "" when empty */
void buf_blank_nuls(struct buf *buf); /* so that buf_text() is all of it */

#endif
