/* recover.h - copies what holds of a damaged database into a new one
 *
 * A page that cannot be read costs the rows on it: each table is read up to the
 * damage and from behind it.  Rows whose checksum holds are taken.  Then rows
 * that refer to lost ones are completed or dropped, so that verify.h finds
 * nothing in the copy.  Rows that are not there any more are counted.
 */
#ifndef FA_COORDINATOR_INSPECT_RECOVER_H
#define FA_COORDINATOR_INSPECT_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/store/whole.h"

struct err;
struct store;

#define RECOVER_TABLES WHOLE_TABLES

struct recover_table {
    const char *name;
    int64_t kept;
    int64_t dropped; /* were read, and do not hold */
    bool damaged;    /* others could not be read */
    int64_t missing; /* were written, and are neither of these */
    int64_t surplus; /* more than were written */
    bool others;     /* as many as were written, but not those */
};

struct recover {
    struct recover_table tables[RECOVER_TABLES];
    int64_t orphans; /* rows of the copy that referred to lost ones */
    bool uncounted;  /* how many rows were written does not hold either */
};

bool recover_table_is_hurt(const struct recover_table *table);
bool recover_is_hurt(const struct recover *recover); /* something is lost */

/* 'to' is new and empty; its rows are committed.  ERR_STORE if it cannot be
 * written. */
int recover_run(struct store *from, struct store *to, struct recover *out,
                struct err *err);

#endif
