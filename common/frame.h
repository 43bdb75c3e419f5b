/* frame.h - the relay's byte stream: many connections over one pipe
 *
 *   type (1) | 0 (1) | stream (2 LE) | length (4 LE) | payload
 *
 * as docs/protocol.md section 1 has it, after one line of text, the magic,
 * that tells the stream from what a login shell printed before it.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_FRAME_H
#define FA_COMMON_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define FRAME_HEADER_BYTES 8
#define FRAME_PAYLOAD_MAX (64 << 10)

enum frame_type {
    FRAME_OPEN = 1,
    FRAME_DATA = 2,
    FRAME_CLOSE = 3,
};

struct frame {
    enum frame_type type;
    uint16_t stream;
    uint32_t len; /* of the payload; 0 unless DATA */
};

void frame_put(const struct frame *frame, unsigned char to[FRAME_HEADER_BYTES]);

/* Read the header at the front of 'bytes'.  Returns 1 when the payload is
 * there as well, 0 when more bytes are needed, ERR_PROTO for anything that is
 * no frame; the text shows the first bytes. */
int frame_get(const void *bytes, size_t len, struct frame *out,
              struct err *err);

#define FRAME_NOISE_MAX (64 << 10) /* what may stand before the magic */
#define FRAME_VERSION_BYTES 33
#define FRAME_MAGIC_BYTES 64

/* "fa-relay 1 VERSION\n"; returns its length. */
size_t frame_magic(const char *version, char out[FRAME_MAGIC_BYTES]);

/* Look for the magic in all that came so far.  Returns 1 with the program's
 * version and the offset where the frames begin, 0 when more is needed, or
 * ERR_PROTO: another relay version, or FRAME_NOISE_MAX bytes without it. */
int frame_find_magic(const char *bytes, size_t len, size_t *frames,
                     char version[FRAME_VERSION_BYTES], struct err *err);

#endif
