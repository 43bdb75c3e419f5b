#include "common/packed.h"

#include <stdint.h>

/* What an object's first byte tells: bytes of the head, bytes of the payload,
 * and the number of objects inside. */
struct head {
    uint64_t head, payload, objects;
};

static uint64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

/* The MessagePack specification's table of first bytes. */
static struct head read_head(const unsigned char *p, size_t left)
{
    static const unsigned char fixed[] = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };
    unsigned char b = p[0];
    size_t n;

    if (b >= 0x80 && b <= 0x8f)
        return (struct head){ 1, 0, 2 * (b & 0x0fu) };
    if (b >= 0x90 && b <= 0x9f)
        return (struct head){ 1, 0, b & 0x0fu };
    if (b >= 0xa0 && b <= 0xbf)
        return (struct head){ 1, b & 0x1fu, 0 };
    if (b >= 0xca && b <= 0xd3)
        return (struct head){ 1, fixed[b - 0xca], 0 };
    if (b >= 0xd4 && b <= 0xd8)
        return (struct head){ 2, UINT64_C(1) << (b - 0xd4), 0 };
    n = b >= 0xdc && b <= 0xdf   ? (b & 1 ? 4 : 2)
        : b >= 0xd9 && b <= 0xdb ? (size_t)1 << (b - 0xd9)
        : b >= 0xc4 && b <= 0xc6 ? (size_t)1 << (b - 0xc4)
        : b >= 0xc7 && b <= 0xc9 ? (size_t)1 << (b - 0xc7)
                                 : 0;
    if (n == 0 || left < 1 + n)
        return (struct head){ 1 + n, 0, 0 };
    if (b >= 0xdc)
        return (struct head){ 1 + n, 0,
                              big_endian(p + 1, n) * (b >= 0xde ? 2 : 1) };
    /* an extension has a byte for its type as well */
    return (struct head){ 1 + n + (b >= 0xc7 && b <= 0xc9),
                          big_endian(p + 1, n), 0 };
}

bool packed_counts_fit(const void *message, size_t len)
{
    const unsigned char *bytes = message;
    size_t at = 0;

    while (at < len) {
        struct head head = read_head(bytes + at, len - at);

        if (head.head > len - at)
            return false;
        at += (size_t)head.head;
        if (head.payload > len - at || head.objects > len - at)
            return false;
        at += (size_t)head.payload;
    }
    return true;
}
