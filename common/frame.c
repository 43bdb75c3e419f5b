#include "common/frame.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "fa-relay "
#define MAGIC_VERSION "1 "
#define SHOWN_BYTES 32 /* bytes of an invalid stream that the error shows */

void frame_put(const struct frame *frame, unsigned char to[FRAME_HEADER_BYTES])
{
    to[0] = (unsigned char)frame->type;
    to[1] = 0;
    to[2] = (unsigned char)(frame->stream & 0xff);
    to[3] = (unsigned char)(frame->stream >> 8);
    for (int i = 0; i < 4; i++)
        to[4 + i] = (unsigned char)(frame->len >> (8 * i));
}

/* 'text' for an error: printable characters as they are. */
static void show(const unsigned char *bytes, size_t len,
                 char out[4 * SHOWN_BYTES + 1])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < len && i < SHOWN_BYTES; i++) {
        if (isprint(bytes[i]) && bytes[i] != '\\')
            out[n++] = (char)bytes[i];
        else
            n += (size_t)snprintf(out + n, 5, "\\x%02x", bytes[i]);
        out[n] = '\0';
    }
}

static bool legal(const unsigned char *head, uint32_t len)
{
    if (head[1] != 0)
        return false;
    if (head[0] == FRAME_DATA)
        return len > 0 && len <= FRAME_PAYLOAD_MAX;
    if (head[0] == FRAME_NOTE)
        return head[2] == 0 && head[3] == 0 && len > 0 && len <= FRAME_NOTE_MAX;
    return (head[0] == FRAME_OPEN || head[0] == FRAME_CLOSE) && len == 0;
}

int frame_get(const void *bytes, size_t len, struct frame *out, struct err *err)
{
    const unsigned char *head = bytes;
    char shown[4 * SHOWN_BYTES + 1];
    uint32_t payload = 0;

    if (len < FRAME_HEADER_BYTES)
        return 0;
    for (int i = 0; i < 4; i++)
        payload |= (uint32_t)head[4 + i] << (8 * i);
    if (!legal(head, payload)) {
        show(head, len, shown);
        return err_set(err, ERR_PROTO,
                       "the relay sent '%s', which is not a frame", shown);
    }
    *out = (struct frame){ .type = (enum frame_type)head[0],
                           .stream = (uint16_t)(head[2] | head[3] << 8),
                           .len = payload };
    return len - FRAME_HEADER_BYTES >= payload;
}

size_t frame_magic(const char *version, char out[FRAME_MAGIC_BYTES])
{
    return (size_t)snprintf(out, FRAME_MAGIC_BYTES,
                            MAGIC MAGIC_VERSION "%.*s\n",
                            FRAME_VERSION_BYTES - 1, version);
}

/* The version after the magic's number, up to the end of its line. */
static int read_version(const char *at, const char *end,
                        char version[FRAME_VERSION_BYTES], struct err *err)
{
    size_t n = (size_t)(end - at);

    if (n < strlen(MAGIC_VERSION) ||
        memcmp(at, MAGIC_VERSION, strlen(MAGIC_VERSION)) != 0)
        return err_set(err, ERR_PROTO,
                       "the relay speaks version '%.*s' of its protocol, not 1",
                       (int)(n < SHOWN_BYTES ? n : SHOWN_BYTES), at);
    at += strlen(MAGIC_VERSION);
    n -= strlen(MAGIC_VERSION);
    if (n == 0 || n >= FRAME_VERSION_BYTES)
        return err_set(err, ERR_PROTO, "the relay did not send its version");
    memcpy(version, at, n);
    version[n] = '\0';
    return 1;
}

int frame_find_magic(const char *bytes, size_t len, size_t *frames,
                     char version[FRAME_VERSION_BYTES], struct err *err)
{
    char shown[4 * SHOWN_BYTES + 1];
    const char *at = memmem(bytes, len, MAGIC, strlen(MAGIC));
    const char *end;

    if (at) {
        at += strlen(MAGIC);
        end = memchr(at, '\n', len - (size_t)(at - bytes));
        if (end) {
            *frames = (size_t)(end + 1 - bytes);
            return read_version(at, end, version, err);
        }
    }
    if (len < FRAME_NOISE_MAX)
        return 0;
    show((const unsigned char *)bytes, len, shown);
    return err_set(err, ERR_PROTO, "no relay answers; the first bytes are '%s'",
                   shown);
}
