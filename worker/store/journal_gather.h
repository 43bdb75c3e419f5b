/* journal_gather.h - results that other workers of the folder left for a sweep
 *
 * A database may come back with another set of GPUs in its hosts file, or from
 * a version that had one worker a folder: another worker than before serves it
 * then (instance.h), with another journal.
 */
#ifndef FA_WORKER_STORE_JOURNAL_GATHER_H
#define FA_WORKER_STORE_JOURNAL_GATHER_H

#include "common/hash.h"
#include "worker/store/instance.h"
#include "worker/store/journal.h"

struct journal_gathered {
    size_t moved;
    struct journal_damage damage; /* in the journals that were read */
};

/* Move the records of the database 'owner', as in journal_record.h, from the
 * journals of all other workers that do not run to 'journal', which is that of
 * 'mine'.  What cannot be moved stays, and is moved another time. */
struct journal_gathered journal_gather(const struct instance *mine,
                                       struct journal *journal,
                                       const char owner[HASH_HEX]);

#endif
