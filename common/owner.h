/* owner.h - the sweep that a worker serves, by name
 *
 * An invitation says who invites, so that a worker that is taken can name its
 * owner to anyone else who asks for it.  Every text of it is printable.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_OWNER_H
#define FA_COMMON_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

#define OWNER_NAME_BYTES 64
#define OWNER_PATH_BYTES 256

struct owner {
    char id[HASH_HEX]; /* of the database */
    char user[OWNER_NAME_BYTES];
    char machine[OWNER_NAME_BYTES];
    char database[OWNER_PATH_BYTES]; /* absolute, or its end */
    int64_t pid;
    int64_t since_utc;
};

/* Put 'text' into one of the fields, of 'size' bytes: control characters
 * become '?', and where it does not fit the end is kept, after "...". */
void owner_set(char *field, size_t size, const char *text);

/* One database, or one process with two of them. */
bool owner_is_same(const struct owner *a, const struct owner *b);

/* "ada@laptop, pid 4711, /home/ada/flash.db, since 2026-11-22T10:01:02Z", with
 * as much of the end of the path as fits into 'size' bytes. */
void owner_text(const struct owner *owner, char *out, size_t size);

#endif
