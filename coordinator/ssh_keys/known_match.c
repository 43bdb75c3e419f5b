#include "coordinator/ssh_keys/known_match.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>

#define SHA1_BYTES 20
#define NAME_BYTES 320

void known_match_name(const char *host, int port, char *out, size_t size)
{
    if (port == 22)
        snprintf(out, size, "%s", host);
    else
        snprintf(out, size, "[%s]:%d", host, port);
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

/* Does the pattern match the whole name?  Backtracks to the last '*' only, so
 * it takes at most pattern x name steps. */
static bool glob(const char *p, const char *end, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name) {
        if (p < end && *p == '*') {
            star = ++p;
            resume = name;
        } else if (p < end &&
                   (*p == '?' || tolower((unsigned char)*p) == *name)) {
            p++;
            name++;
        } else if (star) {
            p = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

static bool list_matches(const char *names, size_t len, const char *name)
{
    const char *end = names + len;
    bool found = false;

    while (names < end) {
        const char *comma = memchr(names, ',', (size_t)(end - names));
        const char *stop = comma ? comma : end;
        bool except = names < stop && *names == '!';

        if (names + except < stop && glob(names + except, stop, name)) {
            if (except)
                return false;
            found = true;
        }
        names = stop + 1;
    }
    return found;
}

static bool unbase64(const char *text, size_t len,
                     unsigned char out[SHA1_BYTES])
{
    size_t n = 0;

    return sodium_base642bin(out, SHA1_BYTES, text, len, NULL, &n, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           n == SHA1_BYTES;
}

/* |1|base64 salt|base64 hash */
static bool hash_matches(const char *text, size_t len, const char *name)
{
    unsigned char salt[SHA1_BYTES], want[SHA1_BYTES], have[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    const char *second;

    if (len < 3 || memcmp(text, "|1|", 3) != 0)
        return false;
    text += 3;
    len -= 3;
    second = memchr(text, '|', len);
    if (!second || !unbase64(text, (size_t)(second - text), salt) ||
        !unbase64(second + 1, len - (size_t)(second + 1 - text), want))
        return false;
    HMAC(EVP_sha1(), salt, SHA1_BYTES, (const unsigned char *)name,
         strlen(name), have, &n);
    return n == SHA1_BYTES && sodium_memcmp(have, want, SHA1_BYTES) == 0;
}

static bool matches(const char *names, size_t len, const char *host, int port)
{
    char name[NAME_BYTES];

    known_match_name(host, port, name, sizeof(name));
    return *names == '|' ? hash_matches(names, len, name)
                         : list_matches(names, len, name);
}

enum known_match_cover known_match_covers(const char *names, size_t len,
                                          const char *host, int port)
{
    if (len == 0)
        return KNOWN_MATCH_COVERS_NOT;
    if (matches(names, len, host, port))
        return KNOWN_MATCH_COVERS;
    return port != 22 && matches(names, len, host, 22) ? KNOWN_MATCH_COVERS_NAME
                                                       : KNOWN_MATCH_COVERS_NOT;
}
