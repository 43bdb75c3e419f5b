#include "common/hash.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

int hash_setup(struct err *err)
{
    if (sodium_init() < 0)
        return err_set(err, ERR_SYSTEM, "libsodium cannot be initialised");
    return 0;
}

struct hash *hash_new(void)
{
    void *hash = aligned_alloc(_Alignof(struct hash), sizeof(struct hash));

    mem_check(hash);
    return hash;
}

void hash_init(struct hash *hash)
{
    crypto_generichash_init(&hash->state, NULL, 0, HASH_BYTES);
}

void hash_add(struct hash *hash, const void *bytes, size_t len)
{
    crypto_generichash_update(&hash->state, bytes, len);
}

void hash_field(struct hash *hash, const void *bytes, size_t len)
{
    unsigned char le[8];

    for (size_t i = 0; i < sizeof(le); i++)
        le[i] = (unsigned char)((uint64_t)len >> (8 * i));
    hash_add(hash, le, sizeof(le));
    hash_add(hash, bytes, len);
}

void hash_text(struct hash *hash, const char *text)
{
    hash_field(hash, text, strlen(text));
}

void hash_end_bytes(struct hash *hash, unsigned char out[HASH_BYTES])
{
    crypto_generichash_final(&hash->state, out, HASH_BYTES);
}

void hash_end(struct hash *hash, char out[HASH_HEX])
{
    unsigned char digest[HASH_BYTES];

    hash_end_bytes(hash, digest);
    sodium_bin2hex(out, HASH_HEX, digest, sizeof(digest));
}

void hash_of(const void *bytes, size_t len, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_add(&hash, bytes, len);
    hash_end(&hash, out);
}

int hash_file(const char *path, char out[HASH_HEX], struct err *err)
{
    FILE *f = fopen(path, "re");
    unsigned char block[65536];
    struct hash hash;
    size_t n;
    int failed;

    if (!f)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    hash_init(&hash);
    while ((n = fread(block, 1, sizeof(block), f)) > 0)
        hash_add(&hash, block, n);
    failed = ferror(f);
    fclose(f);
    if (failed)
        return err_set(err, ERR_SYSTEM, "%s: read error", path);
    hash_end(&hash, out);
    return 0;
}

bool hash_is_hex(const char *text)
{
    return strlen(text) == HASH_HEX - 1 &&
           strspn(text, "0123456789abcdef") == HASH_HEX - 1;
}
