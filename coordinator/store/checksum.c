#include "coordinator/store/checksum.h"

#include <string.h>

static void add_u64(struct hash *hash, uint64_t bits)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    hash_add(hash, bytes, sizeof(bytes));
}

static void add_real(struct hash *hash, double real)
{
    uint64_t bits;

    if (real == 0.0)
        real = 0.0; /* SQLite does not keep the sign of a zero */
    memcpy(&bits, &real, sizeof(bits));
    add_u64(hash, bits);
}

static void add_row(struct hash *hash, const struct sql_value *values, size_t n)
{
    hash_init(hash);
    for (size_t i = 0; i < n; i++) {
        hash_add(hash, &values[i].type, 1);
        switch (values[i].type) {
        case 'I':
            add_u64(hash, (uint64_t)values[i].integer);
            break;
        case 'd':
            add_real(hash, values[i].real);
            break;
        case 't':
            add_u64(hash, values[i].len);
            hash_add(hash, values[i].text, values[i].len);
            break;
        }
    }
}

void checksum_row(const struct sql_value *values, size_t n, char out[HASH_HEX])
{
    struct hash hash;

    add_row(&hash, values, n);
    hash_end(&hash, out);
}

int64_t checksum_short(const struct sql_value *values, size_t n)
{
    unsigned char bytes[HASH_BYTES];
    struct hash hash;
    uint64_t bits = 0;

    add_row(&hash, values, n);
    hash_end_bytes(&hash, bytes);
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return (int64_t)bits;
}
