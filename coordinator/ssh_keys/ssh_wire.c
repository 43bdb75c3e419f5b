#include "coordinator/ssh_keys/ssh_wire.h"

#include "common/buf.h"

bool ssh_wire_u32(struct ssh_wire *wire, uint32_t *out)
{
    const unsigned char *p = wire->p;

    if (wire->left < 4)
        return false;
    *out = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
    wire->p += 4;
    wire->left -= 4;
    return true;
}

const unsigned char *ssh_wire_string(struct ssh_wire *wire, size_t *len)
{
    struct ssh_wire rest = *wire;
    uint32_t n;

    if (!ssh_wire_u32(&rest, &n) || n > rest.left)
        return NULL;
    *len = n;
    wire->p = rest.p + n;
    wire->left = rest.left - n;
    return rest.p;
}

void ssh_wire_add_u32(struct buf *out, uint32_t number)
{
    const unsigned char bytes[] = { (unsigned char)(number >> 24),
                                    (unsigned char)(number >> 16),
                                    (unsigned char)(number >> 8),
                                    (unsigned char)number };

    buf_add(out, bytes, sizeof(bytes));
}

void ssh_wire_add_string(struct buf *out, const void *bytes, size_t len)
{
    ssh_wire_add_u32(out, (uint32_t)len);
    buf_add(out, bytes, len);
}

void ssh_wire_add_mpint(struct buf *out, const unsigned char *bytes, size_t len)
{
    bool pad = len > 0 && bytes[0] & 0x80;

    ssh_wire_add_u32(out, (uint32_t)(len + pad));
    if (pad)
        buf_add(out, "", 1);
    buf_add(out, bytes, len);
}
