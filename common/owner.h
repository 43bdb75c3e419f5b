/* owner.h - the sweep that a worker serves
 *
 * An invitation names its sender, so that a busy worker can tell other
 * coordinators who owns it.  Every text of it is printable.  The id is a
 * secret: who knows it gets the worker (worker/agent/claim.h).  It is only in
 * the database, whose mode is 0600, and in invitations; it is never shown.
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
    char id[HASH_HEX]; /* of the database; drawn when that was made */
    /* of the run of fa-coord, whose steps have databases of their own; secret
     * as well */
    char command[HASH_HEX];
    char user[OWNER_NAME_BYTES];
    char machine[OWNER_NAME_BYTES];
    char database[OWNER_PATH_BYTES]; /* absolute, or its end */
    int64_t pid;
    int64_t since_utc;
};

/* Begin the answer of a worker that has an owner, which is connected or gone.
 * It comes free by itself, so that waiting helps. */
#define OWNER_IS_HERE "its worker serves another sweep"
#define OWNER_IS_GONE "its worker waits for another sweep"

/* Put 'text' into one of the fields, of 'size' bytes.  Control characters
 * become '?'. If it does not fit, its end is kept, after "...". */
void owner_set(char *field, size_t size, const char *text);

/* Draw an id for owner.command. */
void owner_draw(char out[HASH_HEX]);

/* The same database; steps of the same run of fa-coord. */
bool owner_is_same(const struct owner *a, const struct owner *b);
bool owner_is_same_command(const struct owner *a, const struct owner *b);

/* "ada@laptop, pid 4711, /home/ada/flash.db, since 2026-11-22T10:01:02Z". A
 * long path is cut at its beginning to fit 'size' bytes. */
void owner_text(const struct owner *owner, char *out, size_t size);

#endif
