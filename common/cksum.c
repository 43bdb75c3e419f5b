#include "common/cksum.h"

#define CRC_POLYNOMIAL 0x04c11db7u

/* Eight bytes are looked up at once, each in a table of its own: slicing-by-8
 * (Kounavis and Berry, A systematic approach to building high performance,
 * software-based, CRC generators, 2005). */
enum {
    CRC_SLICES = 8
};

/* table[k][b]: of byte b and k zeros after it */
static void crc_tables(uint32_t table[CRC_SLICES][256])
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b << 24;

        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (crc >> 31 ? CRC_POLYNOMIAL : 0);
        table[0][b] = crc;
    }
    for (int k = 1; k < CRC_SLICES; k++)
        for (int b = 0; b < 256; b++) {
            const uint32_t crc = table[k - 1][b];

            table[k][b] = crc << 8 ^ table[0][crc >> 24];
        }
}

static uint32_t crc_of_slices(uint32_t table[CRC_SLICES][256], uint32_t crc,
                              const unsigned char *bytes)
{
    uint32_t out = 0;

    for (int k = 0; k < CRC_SLICES; k++) {
        const uint32_t before = k < 4 ? crc >> (24 - 8 * k) & 0xff : 0;

        out ^= table[CRC_SLICES - 1 - k][before ^ bytes[k]];
    }
    return out;
}

uint32_t cksum_of(const unsigned char *bytes, size_t len)
{
    uint32_t table[CRC_SLICES][256], crc = 0;
    size_t i = 0;

    crc_tables(table);
    for (; len - i >= CRC_SLICES; i += CRC_SLICES)
        crc = crc_of_slices(table, crc, bytes + i);
    for (; i < len; i++)
        crc = crc << 8 ^ table[0][crc >> 24 ^ bytes[i]];
    for (; len > 0; len >>= 8)
        crc = crc << 8 ^ table[0][(crc >> 24 ^ len) & 0xff];
    return ~crc;
}
