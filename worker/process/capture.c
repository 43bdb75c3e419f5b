#include "worker/process/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"

enum {
    CHUNK = 64 << 10, /* size of a pipe */
    CHUNKS = 16       /* in one go, so that an endless writer starves no one */
};

void capture_init(struct capture *capture, size_t head_bytes)
{
    memset(capture, 0, sizeof(*capture));
    buf_init(&capture->head, head_bytes);
}

void capture_fini(struct capture *capture)
{
    buf_fini(&capture->head);
    free(capture->tail);
}

void capture_clear(struct capture *capture)
{
    size_t head_bytes = capture->head.max;

    capture_fini(capture);
    capture_init(capture, head_bytes);
}

static void add_to_tail(struct capture *capture, const char *bytes, size_t len)
{
    uint64_t at = capture->total - capture->head.max;

    if (!capture->tail)
        capture->tail = mem_new(CAPTURE_TAIL, 1);
    for (size_t i = len > CAPTURE_TAIL ? len - CAPTURE_TAIL : 0; i < len; i++)
        capture->tail[(at + i) % CAPTURE_TAIL] = bytes[i];
    capture->total += len;
}

void capture_add(struct capture *capture, const char *bytes, size_t len)
{
    size_t room = capture->head.max - capture->head.len;
    size_t first = len < room ? len : room;

    buf_add(&capture->head, bytes, first);
    capture->total += first;
    if (len > first)
        add_to_tail(capture, bytes + first, len - first);
}

void capture_text(const struct capture *capture, struct buf *out)
{
    uint64_t after = capture->total - capture->head.len;
    size_t kept = after < CAPTURE_TAIL ? (size_t)after : CAPTURE_TAIL;
    size_t start = after > CAPTURE_TAIL ? (size_t)(after % CAPTURE_TAIL) : 0;

    buf_add(out, capture->head.bytes, capture->head.len);
    if (after > CAPTURE_TAIL)
        buf_printf(out, "\n[... %" PRIu64 " bytes left out ...]\n",
                   after - CAPTURE_TAIL);
    if (kept == 0)
        return;
    buf_add(out, capture->tail + start, kept - start);
    buf_add(out, capture->tail, start);
}

bool capture_drain(struct capture *capture, int fd)
{
    static char chunk[CHUNK];

    for (int i = 0; i < CHUNKS; i++) {
        ssize_t n = read(fd, chunk, sizeof(chunk));

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return false;
        capture_add(capture, chunk, (size_t)n);
    }
    return true;
}
