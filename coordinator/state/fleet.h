/* fleet.h - the hosts of a sweep, and what they cost
 */
#ifndef FA_COORDINATOR_STATE_FLEET_H
#define FA_COORDINATOR_STATE_FLEET_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/state/host_state.h"

struct hosts;
struct ledger;

struct fleet {
    const struct hosts *list; /* as the user wrote them */
    struct host_state *hosts; /* [n] */
    size_t n;
    struct ledger *ledger;
    int64_t usable_ns; /* when the hosts could last continue the sweep */
    double usd_before; /* spent by earlier runs */
};

#endif
