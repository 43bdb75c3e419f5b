/* capture.h - what a program wrote: its first and last bytes
 *
 * The first error stands at the start of a compiler's output, the reason of a
 * crash at its end; what is between is counted, not kept.
 */
#ifndef FA_WORKER_PROCESS_CAPTURE_H
#define FA_WORKER_PROCESS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

enum {
    CAPTURE_HEAD = 32 << 10, /* unless asked for more */
    CAPTURE_TAIL = 32 << 10
};

struct capture {
    struct buf head; /* as long as it may become: its 'max' */
    char *tail;      /* [CAPTURE_TAIL], a ring; NULL until the head is full */
    uint64_t total;
};

void capture_init(struct capture *capture, size_t head_bytes);
void capture_fini(struct capture *capture);
void capture_add(struct capture *capture, const char *bytes, size_t len);
void capture_clear(struct capture *capture);

/* Append head and tail, with "[... N bytes left out ...]" between them. */
void capture_text(const struct capture *capture, struct buf *out);

/* Read what is there, at most a bounded amount.  False at end of file. */
bool capture_drain(struct capture *capture, int fd);

#endif
