/* journal.h - results that the coordinator has not acknowledged, on disk
 *
 * A record is (length, 4 bytes LE | BLAKE2b of the rest, 16 bytes | an encoded
 * BUILT or MEASURED).  What journal_add() returned 0 for survives a crash and
 * a power cut; a record that was being written then is dropped at the next
 * start.  Acknowledged records are forgotten at once and leave the file when
 * it is empty of others, or mostly waste: after a crash one may be offered
 * again, which the coordinator counts once.
 *
 * Thread rule: one thread, and one process (the worker's lock).
 */
#ifndef FA_WORKER_STORE_JOURNAL_H
#define FA_WORKER_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"

#define JOURNAL_BYTES_MAX (64 << 20) /* of unacknowledged results */

struct journal;

struct journal_entry {
    char nonce[HASH_HEX];
    char *bytes; /* the message, encoded */
    size_t len;
    int64_t sent_ns; /* the sender's note; 0 at first */
};

/* Open or create 'path' and read it.  '*dropped' is how many bytes of a torn
 * or damaged tail were cut off.  ERR_SYSTEM. */
int journal_open(const char *path, struct journal **out, size_t *dropped,
                 struct err *err);
void journal_close(struct journal *journal); /* NULL is fine */

/* Add a result: it is on disk then, and may be sent.  Otherwise nothing of it
 * is kept: ERR_INPUT when it is no encoded result, ERR_SYSTEM when the disk
 * refuses or the journal is full. */
int journal_add(struct journal *journal, const void *bytes, size_t len,
                struct err *err);

/* Once the disk has refused: has it room for as much now?  ERR_SYSTEM. */
int journal_probe(struct journal *journal, struct err *err);

/* The disk has refused and was not probed with success since, or the next
 * result may find no room: no new work should start. */
bool journal_is_stuck(const struct journal *journal);

/* Forget a result.  False when there is none of this nonce. */
bool journal_ack(struct journal *journal, const char *nonce);

/* All entries, oldest first; valid until the next add or ack. */
struct journal_entry *journal_entries(struct journal *journal, size_t *n);

#endif
