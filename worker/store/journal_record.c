#include "worker/store/journal_record.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/msg.h"

#define SUM_AT 4
#define MARK_AT (SUM_AT + HASH_BYTES)
#define TIME_AT (MARK_AT + MARK_BYTES)
#define OWNER_AT (TIME_AT + 8)
#define MARK_BYTES 8

static_assert(OWNER_AT + HASH_HEX - 1 == JOURNAL_RECORD_HEAD,
              "the parts of a head follow each other");

/* Neither text nor MessagePack begins with 0xfa. */
static const unsigned char mark[MARK_BYTES] = { 0xfa, 'r', 'e', 's',
                                                'u',  'l', 't', 1 };

static void put(unsigned char *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *from, size_t n)
{
    uint64_t value = 0;

    for (size_t i = n; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static void checksum(const unsigned char *bytes, size_t len, const char *rest,
                     size_t n_rest, unsigned char out[HASH_BYTES])
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
    crypto_generichash_update(&state, bytes, len);
    crypto_generichash_update(&state, (const unsigned char *)rest, n_rest);
    crypto_generichash_final(&state, out, HASH_BYTES);
}

void journal_record_head(const struct journal_record *record,
                         unsigned char out[JOURNAL_RECORD_HEAD])
{
    memset(out, 0, JOURNAL_RECORD_HEAD);
    put(out, JOURNAL_RECORD_HEAD - MARK_AT + record->len, SUM_AT);
    memcpy(out + MARK_AT, mark, MARK_BYTES);
    put(out + TIME_AT, (uint64_t)record->utc_ns, 8);
    if (hash_is_hex(record->owner))
        memcpy(out + OWNER_AT, record->owner, HASH_HEX - 1);
    checksum(out + MARK_AT, JOURNAL_RECORD_HEAD - MARK_AT, record->message,
             record->len, out + SUM_AT);
}

static bool has_mark(const unsigned char *bytes, size_t len)
{
    return len > JOURNAL_RECORD_HEAD &&
           memcmp(bytes + MARK_AT, mark, MARK_BYTES) == 0;
}

/* The size that the first bytes claim, 0 if it cannot be right. */
static size_t claimed(const unsigned char *bytes, size_t len)
{
    const size_t most = JOURNAL_RECORD_HEAD - MARK_AT + MSG_BYTES_MAX;
    size_t rest;

    if (len <= MARK_AT)
        return 0;
    rest = (size_t)get(bytes, SUM_AT);
    return rest == 0 || rest > most || rest > len - MARK_AT ? 0
                                                            : MARK_AT + rest;
}

size_t journal_record_read(const void *bytes, size_t len,
                           struct journal_record *out)
{
    const unsigned char *head = bytes;
    unsigned char sum[HASH_BYTES];
    size_t size = claimed(head, len);
    bool marked = has_mark(head, size);
    size_t at = marked ? JOURNAL_RECORD_HEAD : MARK_AT;

    if (size == 0)
        return 0;
    checksum(head + MARK_AT, size - MARK_AT, NULL, 0, sum);
    if (memcmp(sum, head + SUM_AT, HASH_BYTES) != 0)
        return 0;
    *out = (struct journal_record){ .message = (const char *)bytes + at,
                                    .len = size - at };
    if (!marked)
        return size;
    out->utc_ns = (int64_t)get(head + TIME_AT, 8);
    memcpy(out->owner, head + OWNER_AT, HASH_HEX - 1);
    if (!hash_is_hex(out->owner))
        out->owner[0] = '\0';
    return size;
}

/* The next offset where a mark shows that a record begins; 'len' if none. */
static size_t next_mark(const unsigned char *bytes, size_t len, size_t at)
{
    const unsigned char *found = NULL;

    if (len - at > MARK_AT)
        found =
            memmem(bytes + at + MARK_AT, len - at - MARK_AT, mark, MARK_BYTES);
    return found ? (size_t)(found - bytes) - MARK_AT : len;
}

size_t journal_record_find(const void *bytes, size_t len, size_t at,
                           struct journal_damage *damage)
{
    const unsigned char *all = bytes;
    struct journal_record record;
    size_t marks = 0, next = at;
    bool torn = true; /* the last one that a mark shows */

    if (at == len || journal_record_read(all + at, len - at, &record) > 0)
        return at;
    while ((next = next_mark(all, len, next)) < len &&
           journal_record_read(all + next, len - next, &record) == 0) {
        marks++;
        torn = claimed(all + next, len - next) == 0;
        next++;
    }
    damage->bytes += next - at;
    if (next < len)
        damage->records += marks > 0 ? marks : 1;
    else if (marks > 0)
        damage->records += torn ? marks - 1 : marks;
    return next;
}
