/* external_times.h - the times of an external baseline in the blocks of a pass
 *
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_PLAN_EXTERNAL_TIMES_H
#define FA_COORDINATOR_PLAN_EXTERNAL_TIMES_H

#include "coordinator/confirm/confirmation_replay.h"

/* What a replay of looks asks for (confirmation_replay.h).  Output that has no
 * time is passed over. */
int external_times(struct store *store, const struct confirmation *confirmation,
                   confirmation_replay_time_fn *fn, void *arg, struct err *err);

#endif
