/* journal_record.h - one record of the journal, as bytes
 *
 *     length, 4 bytes LE      of all that follows the checksum
 *     checksum, 16 bytes      BLAKE2b of all that follows it
 *     mark, 8 bytes           always the same; a scan finds records by it
 *     time, 8 bytes LE        UTC ns, when the result was made
 *     owner, 32 bytes         a hash of the id of the database, or zeros
 *     message                 an encoded result
 *
 * A record is intact if its checksum holds.  Bytes between two intact records
 * were damaged.  Records of older workers have no mark, time and owner; after
 * damage, a scan cannot find these.
 * Pure.
 */
#ifndef FA_WORKER_STORE_JOURNAL_RECORD_H
#define FA_WORKER_STORE_JOURNAL_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

#define JOURNAL_RECORD_HEAD 68 /* all but the message */

struct journal_record {
    const char *message;  /* borrowed */
    size_t len;           /* of the message, > 0 */
    int64_t utc_ns;       /* 0 if not known */
    char owner[HASH_HEX]; /* "" if not known */
};

/* Write all that stands before the message. */
void journal_record_head(const struct journal_record *record,
                         unsigned char out[JOURNAL_RECORD_HEAD]);

/* Read the record that begins at 'bytes'.  Returns its size, or 0 if no intact
 * one does; '*out' borrows from 'bytes'. */
size_t journal_record_read(const void *bytes, size_t len,
                           struct journal_record *out);

struct journal_damage {
    size_t records; /* that were complete once */
    size_t bytes;   /* of all that is not an intact record */
};

/* Find the next intact record at or after 'at'.  Returns its offset and adds
 * what lies before it to '*damage', as at least 1 record; the marks there tell
 * how many.  Returns 'len' if there is none.  Then a last record that is not
 * complete does not count: its writer died. */
size_t journal_record_find(const void *bytes, size_t len, size_t at,
                           struct journal_damage *damage);

#endif
