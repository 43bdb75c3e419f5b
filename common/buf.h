/* buf.h - bytes that grow up to a stated ceiling
 *
 * Everything read from outside lands in one of these, so no peer, child or
 * file decides how much memory is used.
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

/* Append; what does not fit below max is dropped and 'truncated' is set.
 * Returns true when all of it fitted. */
bool buf_add(struct buf *buf, const void *bytes, size_t len);
bool buf_str(struct buf *buf, const char *text);
bool buf_int(struct buf *buf, int64_t number); /* in decimal */
/* The arguments do not lie in the buffer. */
bool buf_printf(struct buf *buf, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_take(struct buf *buf, size_t n); /* drop the first n bytes */
void buf_clear(struct buf *buf);
const char *buf_text(const struct buf *buf); /* "" when empty */

#endif
