#include "coordinator/sql/checksum.h"

#include <string.h>

#define PART_BYTES 1024

/* What is hashed, in parts: a call for each tag and length would take as long
 * as the hash of a small row. */
struct parts {
    struct hash hash;
    size_t n;
    unsigned char bytes[PART_BYTES];
};

static void flush(struct parts *parts)
{
    hash_add(&parts->hash, parts->bytes, parts->n);
    parts->n = 0;
}

static void add(struct parts *parts, const void *bytes, size_t len)
{
    if (len > PART_BYTES - parts->n)
        flush(parts);
    if (len > PART_BYTES) {
        hash_add(&parts->hash, bytes, len);
        return;
    }
    memcpy(parts->bytes + parts->n, bytes, len);
    parts->n += len;
}

static void add_u64(struct parts *parts, uint64_t bits)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    add(parts, bytes, sizeof(bytes));
}

static void add_real(struct parts *parts, double real)
{
    uint64_t bits;

    if (real == 0.0)
        real = 0.0; /* SQLite does not keep the sign of a zero */
    memcpy(&bits, &real, sizeof(bits));
    add_u64(parts, bits);
}

static void add_row(struct parts *parts, const struct sql_value *values,
                    size_t n)
{
    hash_init(&parts->hash);
    parts->n = 0;
    for (size_t i = 0; i < n; i++) {
        add(parts, &values[i].type, 1);
        switch (values[i].type) {
        case 'I':
            add_u64(parts, (uint64_t)values[i].integer);
            break;
        case 'd':
            add_real(parts, values[i].real);
            break;
        case 't':
            add_u64(parts, values[i].len);
            add(parts, values[i].text, values[i].len);
            break;
        }
    }
    flush(parts);
}

void checksum_row(const struct sql_value *values, size_t n, char out[HASH_HEX])
{
    struct parts parts;

    add_row(&parts, values, n);
    hash_end(&parts.hash, out);
}

int64_t checksum_short(const struct sql_value *values, size_t n)
{
    unsigned char bytes[HASH_BYTES];
    struct parts parts;
    uint64_t bits = 0;

    add_row(&parts, values, n);
    hash_end_bytes(&parts.hash, bytes);
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return (int64_t)bits;
}
