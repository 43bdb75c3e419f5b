/* rental_rows.h - the acquisitions of a database that are not released
 *
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_ROWS_H
#define FA_COORDINATOR_RENTAL_RENTAL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/store/store_acquisition.h"

struct err;
struct store;

/* Every machine that may cost money, the oldest first; '*out' is for the caller
 * to free.  ERR_STORE. */
int rental_rows_open(struct store *store, struct store_acquisition **out,
                     size_t *n, struct err *err);

/* Every acquisition, also those that are released, by host and time. */
int rental_rows_all(struct store *store, struct store_acquisition **out,
                    size_t *n, struct err *err);

/* The end of what is paid for, if it is now: UTC ns, counted from 'started_utc'
 * by a clock that is never set, as long as its boot lasts. */
int64_t rental_rows_now_utc(const struct store_acquisition *row);
/* Does the start= of this row still run, perhaps without its coordinator? */
bool rental_rows_starts(const struct store_acquisition *row);

#endif
