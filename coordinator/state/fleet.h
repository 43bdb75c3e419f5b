/* fleet.h - the hosts of a sweep, and what they cost
 */
#ifndef FA_COORDINATOR_STATE_FLEET_H
#define FA_COORDINATOR_STATE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/reserve/reserve.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/state/host_state.h"

struct hosts;
struct ledger;

struct fleet {
    const struct hosts *list; /* as the user wrote them */
    struct host_state *hosts; /* [n] */
    size_t n;
    struct ledger *ledger;
    int64_t usable_ns;  /* when the hosts could last continue the sweep */
    struct bill before; /* what earlier runs held */
    /* With a cap: how long things took in earlier runs, or by default, and
     * whether there were builds in them */
    struct reserve_times past;
    bool past_builds;
    double build_s, measurement_s; /* of earlier runs; NaN: not known */
    bool is_believed;              /* work.facts: no GPU has told its own yet */
    int64_t planned_ns; /* when it was last decided which hosts are rented */
};

#endif
