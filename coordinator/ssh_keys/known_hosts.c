#include "coordinator/ssh_keys/known_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/ssh_keys/known_match.h"

#define WARNINGS_MAX 4096
#define BLOB_MAX 8192 /* a 16384-bit RSA key has 2 kB */

struct fields {
    const char *marker, *names, *type, *key;
    size_t marker_len, names_len, type_len, key_len;
};

void known_hosts_init(struct known_hosts_set *set, const char *host, int port)
{
    *set = (struct known_hosts_set){ .host = host, .port = port };
    buf_init(&set->warnings, WARNINGS_MAX);
}

void known_hosts_fini(struct known_hosts_set *set)
{
    buf_fini(&set->warnings);
    free(set->keys);
}

void known_hosts_fingerprint(const void *blob, size_t len,
                             char out[KNOWN_HOSTS_FINGERPRINT_BYTES])
{
    unsigned char digest[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(digest, blob, len);
    snprintf(out, KNOWN_HOSTS_FINGERPRINT_BYTES, "SHA256:");
    sodium_bin2base64(out + 7, KNOWN_HOSTS_FINGERPRINT_BYTES - 7, digest,
                      sizeof(digest),
                      sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
}

/* A key blob starts with its type: four bytes of length, then the name. */
void known_hosts_type(const void *blob, size_t len,
                      char out[KNOWN_HOSTS_TYPE_BYTES])
{
    const unsigned char *p = blob;
    size_t n;

    *out = '\0';
    if (len < 4)
        return;
    n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (n >= KNOWN_HOSTS_TYPE_BYTES || n > len - 4)
        return;
    memcpy(out, p + 4, n);
    out[n] = '\0';
}

static size_t next_field(const char **p, const char *end, const char **out)
{
    const char *q = *p;

    while (q < end && (*q == ' ' || *q == '\t'))
        q++;
    *out = q;
    while (q < end && *q != ' ' && *q != '\t')
        q++;
    *p = q;
    return (size_t)(q - *out);
}

static void split(const char *text, size_t len, struct fields *out)
{
    const char *p = text, *end = text + len;

    *out = (struct fields){ 0 };
    out->names_len = next_field(&p, end, &out->names);
    if (out->names_len && *out->names == '@') {
        out->marker = out->names;
        out->marker_len = out->names_len;
        out->names_len = next_field(&p, end, &out->names);
    }
    out->type_len = next_field(&p, end, &out->type);
    out->key_len = next_field(&p, end, &out->key);
}

/* Returns why the line cannot be used, or NULL and its key. */
static const char *read_key(const struct fields *f, unsigned char *blob,
                            size_t *len, char type[KNOWN_HOSTS_TYPE_BYTES])
{
    if (f->marker &&
        !(f->marker_len == 8 && memcmp(f->marker, "@revoked", 8) == 0) &&
        !(f->marker_len == 15 && memcmp(f->marker, "@cert-authority", 15) == 0))
        return "the marker is neither @revoked nor @cert-authority";
    if (f->names_len == 0 || f->type_len == 0 || f->key_len == 0)
        return "not 'host type key'";
    if (sodium_base642bin(blob, BLOB_MAX, f->key, f->key_len, NULL, len, NULL,
                          sodium_base64_VARIANT_ORIGINAL) < 0)
        return "the key is not base64";
    known_hosts_type(blob, *len, type);
    if (!*type)
        return "the key is cut off";
    if (strlen(type) != f->type_len || memcmp(type, f->type, f->type_len) != 0)
        return "the key is not of the type that the line says";
    return NULL;
}

static void add_line(struct known_hosts_set *set, const char *file, int number,
                     const char *text, size_t len)
{
    unsigned char blob[BLOB_MAX];
    size_t blob_len = 0;
    char type[KNOWN_HOSTS_TYPE_BYTES];
    enum known_match_cover cover;
    struct known_hosts_key *key;
    struct fields f;
    const char *flaw;

    split(text, len, &f);
    flaw = read_key(&f, blob, &blob_len, type);
    if (flaw) {
        buf_printf(&set->warnings, "%s:%d: %s; this line is skipped\n", file,
                   number, flaw);
        return;
    }
    cover = known_match_covers(f.names, f.names_len, set->host, set->port);
    if (cover == KNOWN_MATCH_COVERS_NOT)
        return;
    if (f.marker && f.marker[1] == 'c') {
        set->has_authority = true;
        return;
    }
    set->keys = mem_grow(set->keys, set->n + 1, sizeof(*set->keys));
    key = &set->keys[set->n++];
    *key = (struct known_hosts_key){ .revoked = f.marker != NULL,
                                     .without_port =
                                         cover == KNOWN_MATCH_COVERS_NAME };
    memcpy(key->type, type, sizeof(type));
    known_hosts_fingerprint(blob, blob_len, key->fingerprint);
    snprintf(key->place, sizeof(key->place), "%s:%d", file, number);
}

void known_hosts_parse(struct known_hosts_set *set, const char *file,
                       const char *text, size_t len)
{
    const char *end = text + len;

    for (int number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end, *p = text;
        size_t size;

        while (p < stop && (*p == ' ' || *p == '\t'))
            p++;
        size = (size_t)(stop - p);
        while (size && (p[size - 1] == '\r' || p[size - 1] == ' '))
            size--;
        if (size && *p != '#')
            add_line(set, file, number, p, size);
        text = stop + 1;
    }
}

enum known_hosts_verdict known_hosts_judge(const struct known_hosts_set *set,
                                           const void *blob, size_t len,
                                           const struct known_hosts_key **which)
{
    char fingerprint[KNOWN_HOSTS_FINGERPRINT_BYTES],
        type[KNOWN_HOSTS_TYPE_BYTES];
    const struct known_hosts_key *match = NULL, *other = NULL, *revoked = NULL;

    known_hosts_fingerprint(blob, len, fingerprint);
    known_hosts_type(blob, len, type);
    for (size_t i = 0; i < set->n; i++) {
        const struct known_hosts_key *key = &set->keys[i];
        bool same = strcmp(key->fingerprint, fingerprint) == 0;

        if (key->revoked)
            revoked = same ? key : revoked;
        else if (same)
            match = key;
        else if (strcmp(key->type, type) == 0 && !key->without_port)
            other = key;
    }
    if (which)
        *which = revoked ? revoked : match ? match : other;
    if (revoked)
        return KNOWN_HOSTS_REVOKED;
    if (match)
        return KNOWN_HOSTS_MATCH;
    return other ? KNOWN_HOSTS_CHANGED : KNOWN_HOSTS_UNKNOWN;
}
