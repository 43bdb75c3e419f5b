#include "coordinator/page/page_policy.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "common/mem.h"

enum {
    DIGITS = sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES,
                                       sodium_base64_VARIANT_ORIGINAL)
};

static void put_hash(const struct page_policy_text *text, FILE *to)
{
    crypto_hash_sha256_state state;
    unsigned char hash[crypto_hash_sha256_BYTES];
    char digits[DIGITS];

    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < 4 && text->parts[i]; i++)
        crypto_hash_sha256_update(&state, (const unsigned char *)text->parts[i],
                                  strlen(text->parts[i]));
    crypto_hash_sha256_final(&state, hash);
    sodium_bin2base64(digits, sizeof(digits), hash, sizeof(hash),
                      sodium_base64_VARIANT_ORIGINAL);
    fprintf(to, " 'sha256-%s'", digits);
}

char *page_policy(const struct page_policy_text *scripts, size_t n_scripts,
                  const struct page_policy_text *style, bool live)
{
    char *policy;
    size_t len;
    FILE *to = mem_stream(&policy, &len);

    fputs("default-src 'none'; base-uri 'none'; form-action 'none'; "
          "style-src",
          to);
    put_hash(style, to);
    if (n_scripts)
        fputs("; script-src", to);
    for (size_t i = 0; i < n_scripts; i++)
        put_hash(&scripts[i], to);
    if (live && n_scripts)
        fputs("; connect-src 'self'", to);
    fclose(to);
    return policy;
}
