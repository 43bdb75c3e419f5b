/* estimate.h - how long hosts take for an amount of work, and for how much
 *
 * Before a host answers, its cores and GPUs are not known.  A host counts with
 * the build slots and GPUs that the hosts file gives, or with one of each, so
 * the estimate is rather too high.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_HOSTS_ESTIMATE_H
#define FA_COORDINATOR_HOSTS_ESTIMATE_H

#include <stddef.h>

struct hosts;

struct estimate {
    double build_core_s, measure_gpu_s; /* the work */
    double wall_s;                      /* builds, then measurements */
    size_t priced;                      /* hosts with a price */
    double usd_per_hour;                /* of those, together */
    double usd;                         /* NaN if no host has a price */
};

/* The hosts can sweep (hosts_can_sweep()). */
void estimate_make(const struct hosts *hosts, double build_core_s,
                   double measure_gpu_s, struct estimate *out);

#endif
