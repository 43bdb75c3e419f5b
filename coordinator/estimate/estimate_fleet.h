/* estimate_fleet.h - which machines of a hosts file make a good fleet
 *
 * Machines are added one by one as long as each makes it better, from each
 * smallest fleet that can do the work.  Fleets are compared by what is likely.
 * Pure.
 */
#ifndef FA_COORDINATOR_ESTIMATE_ESTIMATE_FLEET_H
#define FA_COORDINATOR_ESTIMATE_ESTIMATE_FLEET_H

#include <stdbool.h>

#include "coordinator/estimate/estimate.h"

#define ESTIMATE_FLEET_KINDS 32

enum estimate_goal {
    ESTIMATE_CHEAPEST,
    ESTIMATE_FASTEST
};

/* counts[i] of machine i. */
struct estimate_fleet {
    int counts[ESTIMATE_FLEET_KINDS];
    struct estimate estimate;
};

/* false if there are too many kinds of machines, if none can do the work, or
 * if the cheapest is asked for and a machine has no price. */
bool estimate_fleet_choose(const struct estimate_problem *problem,
                           enum estimate_goal goal, struct estimate_fleet *out);

/* A builder as users rent them: so many cores, so many dollars. */
#define ESTIMATE_FLEET_BUILDER_SLOTS 16
#define ESTIMATE_FLEET_BUILDER_USD_PER_HOUR 0.12

/* What one such machine more than 'counts' (NULL: all) would change.  false if
 * there are too many kinds of machines. */
bool estimate_fleet_add_builder(const struct estimate_problem *problem,
                                const int *counts, struct estimate *out);

#endif
