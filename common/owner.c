#include "common/owner.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "common/clock.h"

#define CUT "..."
#define SHOWN_MAX 32 /* of a name */
#define SECONDS 19   /* of a time as clock_iso() writes it */

void owner_set(char *field, size_t size, const char *text)
{
    size_t len = strlen(text);
    const char *cut = len < size ? "" : CUT;

    if (len >= size)
        text += len - (size - sizeof(CUT));
    snprintf(field, size, "%s%s", cut, text);
    for (char *c = field; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

void owner_draw(char out[HASH_HEX])
{
    unsigned char random[HASH_HEX / 2];

    randombytes_buf(random, sizeof(random));
    sodium_bin2hex(out, HASH_HEX, random, sizeof(random));
}

/* In constant time, because the caller may be guessing. */
bool owner_is_same(const struct owner *a, const struct owner *b)
{
    return sodium_memcmp(a->id, b->id, sizeof(a->id)) == 0;
}

bool owner_is_same_command(const struct owner *a, const struct owner *b)
{
    return sodium_memcmp(a->command, b->command, sizeof(a->command)) == 0;
}

void owner_text(const struct owner *owner, char *out, size_t size)
{
    char who[2 * SHOWN_MAX + 32], since[CLOCK_ISO_BYTES];
    char path[OWNER_PATH_BYTES];
    size_t taken;

    clock_iso(owner->since_utc, since);
    snprintf(who, sizeof(who), "%.*s@%.*s, pid %lld", SHOWN_MAX, owner->user,
             SHOWN_MAX, owner->machine, (long long)owner->pid);
    taken = strlen(who) + strlen(", , since Z") + SECONDS;
    owner_set(path,
              size > taken + sizeof(CUT) && size - taken < sizeof(path)
                  ? size - taken
                  : sizeof(path),
              owner->database);
    snprintf(out, size, "%s, %s, since %.*sZ", who, path, SECONDS, since);
}
