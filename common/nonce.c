#include "common/nonce.h"

#include "common/clock.h"

#define TIME_BYTES 6

void nonce_draw(int64_t utc_ns, char out[HASH_HEX])
{
    uint64_t ms = (uint64_t)(utc_ns / NS_PER_MS);
    unsigned char bytes[HASH_BYTES];

    randombytes_buf(bytes, sizeof(bytes));
    for (int i = TIME_BYTES; i-- > 0; ms >>= 8)
        bytes[i] = (unsigned char)ms;
    sodium_bin2hex(out, HASH_HEX, bytes, sizeof(bytes));
}
