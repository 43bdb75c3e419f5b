/* journal.h - results that the coordinator has not acknowledged, on disk
 *
 * The file is a sequence of records (journal_record.h).  If journal_add()
 * returns 0, the record survives a crash and a power cut.  A record that was
 * only partly written is dropped at the next start, and so is a damaged one;
 * the records around it are kept.  Acknowledged records are forgotten at once.
 * They stay in the file until it has no others, or mostly such records.  So
 * after a crash a result may be sent again; the coordinator counts it once.
 *
 * Thread rule: one thread, and one process (the worker's lock).
 */
#ifndef FA_WORKER_STORE_JOURNAL_H
#define FA_WORKER_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "worker/store/journal_record.h"

#define JOURNAL_BYTES_MAX (64 << 20) /* of unacknowledged results */
#define JOURNAL_KEEP_NS (7 * 24 * 3600 * NS_PER_S)

struct journal;

struct journal_entry {
    char nonce[HASH_HEX];
    struct journal_record record; /* its message belongs to the entry */
    int64_t sent_ns;              /* for the sender; initially 0 */
};

/* Open or create 'path' and read it.  '*damage' is what was dropped.
 * ERR_SYSTEM; also if the file is larger than a worker ever makes it. */
int journal_open(const char *path, struct journal **out,
                 struct journal_damage *damage, struct err *err);
void journal_close(struct journal *journal); /* NULL is fine */

/* Add a result; it is copied.  After 0 it is on disk and may be sent.  After an
 * error nothing of it is kept: ERR_INPUT if it is not an encoded result,
 * ERR_SYSTEM if the disk is full or fails, or the journal is full. */
int journal_add(struct journal *journal, const struct journal_record *record,
                struct err *err);

/* After the disk was full: is there room for that much now?  ERR_SYSTEM. */
int journal_probe(struct journal *journal, struct err *err);

/* The disk was full and no probe has succeeded since, or the next result may
 * not fit: start no new work. */
bool journal_is_stuck(const struct journal *journal);

/* Forget a result.  False if no record has this nonce. */
bool journal_ack(struct journal *journal, const char *nonce);

/* Drop what is forgotten from the file, too.  If that fails, it is only sent
 * again. */
void journal_compact(struct journal *journal);

/* Forget results that nobody fetches, while the database 'owner' is served:
 * those of other databases that are older than JOURNAL_KEEP_NS.  While there is
 * no room for another message, the oldest ones go: of other databases, or older
 * than that although they were sent.  Returns how many. */
size_t journal_age(struct journal *journal, const char *owner, int64_t utc_ns);

/* All entries, oldest first; valid until the next add or ack. */
struct journal_entry *journal_entries(struct journal *journal, size_t *n);

#endif
