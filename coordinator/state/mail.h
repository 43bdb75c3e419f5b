/* mail.h - rows that wait for COMMIT, and results that wait for a plan
 */
#ifndef FA_COORDINATOR_STATE_MAIL_H
#define FA_COORDINATOR_STATE_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"
#include "coordinator/link/commit_pace.h"
#include "coordinator/schedule/ledger.h"

struct store;

/* A result that came before the plan that is needed to check it. */
struct held_result {
    size_t host;
    struct msg msg; /* owned */
};

/* So many intervals are put at once at the latest. */
#define MAIL_INTERVALS_MAX 128

/* An interval of the ledger that is not in the database yet.  Intervals of a
 * host lie side by side there, and have no hurry: together they touch a third
 * of the pages. */
struct kept_interval {
    struct ledger_interval is;
    int64_t start_utc;
};

struct mail {
    struct store *store;
    struct commit_pace pace; /* rows since the last COMMIT */
    struct kept_interval intervals[MAIL_INTERVALS_MAX];
    size_t n_intervals;
    struct held_result *held;
    size_t n_held, n_taken; /* kept, and taken since */
    size_t held_bytes;      /* of all that were kept */
};

#endif
