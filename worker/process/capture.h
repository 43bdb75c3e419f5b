/* capture.h - keeps the first and last bytes of a program's output
 *
 * The first error is at the start of a compiler's output, the reason of a crash
 * at its end.  The bytes between are counted, but not kept.
 */
#ifndef FA_WORKER_PROCESS_CAPTURE_H
#define FA_WORKER_PROCESS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

enum {
    CAPTURE_HEAD = 32 << 10, /* default */
    CAPTURE_TAIL = 32 << 10
};

struct capture {
    struct buf head; /* its 'max' is the limit */
    char *tail;      /* [CAPTURE_TAIL], a ring; NULL until the head is full */
    uint64_t total;
};

void capture_init(struct capture *capture, size_t head_bytes);
void capture_fini(struct capture *capture);
void capture_add(struct capture *capture, const char *bytes, size_t len);
void capture_clear(struct capture *capture);

/* Append head and tail, with "[... N bytes left out ...]" between them. */
void capture_text(const struct capture *capture, struct buf *out);

/* Read what has arrived, a limited amount at a time.  False at end of file. */
bool capture_drain(struct capture *capture, int fd);

#endif
