/* mail.h - rows that wait for COMMIT, and results that wait for a plan
 */
#ifndef FA_COORDINATOR_STATE_MAIL_H
#define FA_COORDINATOR_STATE_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"
#include "coordinator/link/commit_pace.h"

struct store;

/* A result that came before the plan that is needed to check it. */
struct held_result {
    size_t host;
    struct msg msg; /* owned */
};

struct mail {
    struct store *store;
    struct commit_pace pace; /* rows since the last COMMIT */
    struct held_result *held;
    size_t n_held, n_taken; /* kept, and taken since */
    size_t held_bytes;      /* of all that were kept */
};

#endif
