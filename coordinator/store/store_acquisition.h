/* store_acquisition.h - machines that were acquired, as rows of the database
 *
 * Field by field the columns of schema.sql, as in store_rows.h.  Thread rule
 * and errors: store.h.
 */
#ifndef FA_COORDINATOR_STORE_STORE_ACQUISITION_H
#define FA_COORDINATOR_STORE_STORE_ACQUISITION_H

#include <stdint.h>

#include "common/clock.h"

struct err;
struct row_shape;
struct store;

#define STORE_ACQUISITION_ID 24 /* bytes, with the NUL */

struct store_acquisition {
    char id[STORE_ACQUISITION_ID];
    char host[256];
    char state[16];
    char start_command[1024], stop_command[1024], folder[1024];
    char machine[128];
    char address[512]; /* what start= printed, as words of a hosts line */
    int64_t pid, pid_ticks;
    char boot_id[CLOCK_BOOT_ID_BYTES];
    double rate_usd_per_h; /* NaN: no price */
    int64_t started_utc;
    int64_t acquired_utc, released_utc; /* 0: not yet */
    int64_t stop_tries;
    char why[512];
};

extern const struct row_shape store_acquisition_shape;

/* A new row, or a changed one with the same id. */
int store_acquisition_put(struct store *store,
                          const struct store_acquisition *row, struct err *err);

#endif
