/* Any bytes decode to a message that encodes again, or are refused; nothing
 * leaks and nothing grows beyond the ceilings. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct msg msg;
    struct buf buf;

    if (msg_decode(data, size, &msg, &err) < 0) {
        assert(err.text[0]);
        return 0;
    }
    buf_init(&buf, 2 * MSG_BYTES_MAX);
    assert(msg_encode(&msg, &buf, &err) == 0);
    msg_fini(&msg);
    assert(msg_decode(buf.bytes, buf.len, &msg, &err) == 0);
    msg_fini(&msg);
    buf_fini(&buf);
    return 0;
}
