#include "common/sources.h"

#include <assert.h>

void sources_hash(const struct texts *names, const struct blobs *contents,
                  char out[HASH_HEX])
{
    struct hash hash;

    assert(names->n == contents->n);
    hash_init(&hash);
    for (size_t i = 0; i < names->n; i++) {
        hash_text(&hash, names->items[i]);
        hash_field(&hash, contents->items[i].data, contents->items[i].len);
    }
    hash_end(&hash, out);
}
