/* frame.h - the relay's byte stream: many connections over one pipe
 *
 *   type (1) | 0 (1) | stream (2 LE) | length (4 LE) | payload
 *
 * The format is that of docs/protocol.md section 1. One line of text, the
 * magic, comes first: it separates the stream from what a login shell printed
 * before.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_FRAME_H
#define FA_COMMON_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define FRAME_HEADER_BYTES 8
#define FRAME_PAYLOAD_MAX (64 << 10)
#define FRAME_NOTE_MAX 239 /* fits an error's text */

enum frame_type {
    FRAME_OPEN = 1,
    FRAME_DATA = 2,
    FRAME_CLOSE = 3,
    FRAME_NOTE = 4, /* on stream 0: a line of text, for people */
};

struct frame {
    enum frame_type type;
    uint16_t stream;
    uint32_t len; /* of the payload; 0 unless DATA or NOTE */
};

void frame_put(const struct frame *frame, unsigned char to[FRAME_HEADER_BYTES]);

/* Read the header at the front of 'bytes'. Returns 1 if the payload is
 * complete, 0 if more bytes are needed, or ERR_PROTO if this is not a frame;
 * the text shows the first bytes. */
int frame_get(const void *bytes, size_t len, struct frame *out,
              struct err *err);

#define FRAME_NOISE_MAX (256 << 10) /* bytes allowed before the magic */
#define FRAME_VERSION_BYTES 33
#define FRAME_MAGIC_BYTES 64

/* "fa-relay 1 VERSION\n"; returns its length. */
size_t frame_magic(const char *version, char out[FRAME_MAGIC_BYTES]);

/* Look for the magic in everything received so far.  Returns 1 with the
 * program's version and the offset of the first frame, 0 if more is needed, or
 * ERR_PROTO: another relay version, or FRAME_NOISE_MAX bytes without the
 * magic. */
int frame_find_magic(const char *bytes, size_t len, size_t *frames,
                     char version[FRAME_VERSION_BYTES], struct err *err);

#endif
