/* hash.h - identity by content: BLAKE2b, 16 bytes, written as 32 hex digits
 *
 * It is used for keys of configurations, builds and artifacts, and for the
 * checksum of a stored row.  libsodium computes it.  Call hash_setup() before
 * the first thread.
 */
#ifndef FA_COMMON_HASH_H
#define FA_COMMON_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include <sodium.h>

#include "common/err.h"

#define HASH_BYTES 16
#define HASH_HEX 33 /* with the NUL */

struct hash {
    crypto_generichash_state state;
};

int hash_setup(struct err *err); /* sodium_init(), once, in main */
/* On the heap, aligned to 64 bytes, which malloc() does not do.  free() */
struct hash *hash_new(void);
void hash_init(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, size_t len);
/* Add a field: its length comes first, so that "ab","c" differs from
 * "a","bc". */
void hash_field(struct hash *hash, const void *bytes, size_t len);
void hash_text(struct hash *hash, const char *text); /* as a field */
void hash_end(struct hash *hash, char out[HASH_HEX]);
void hash_end_bytes(struct hash *hash, unsigned char out[HASH_BYTES]);

void hash_of(const void *bytes, size_t len, char out[HASH_HEX]);
/* Of the contents of a file.  ERR_SYSTEM if it cannot be read. */
int hash_file(const char *path, char out[HASH_HEX], struct err *err);
bool hash_is_hex(const char *text); /* 32 lower-case hex digits */

#endif
