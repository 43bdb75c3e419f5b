/* build_listing_sum.h - the summary figures of many builds */
#ifndef FA_COORDINATOR_REPORT_BUILD_LISTING_SUM_H
#define FA_COORDINATOR_REPORT_BUILD_LISTING_SUM_H

#include <stddef.h>

#include "coordinator/report/build_listing.h"
#include "coordinator/stats/stats.h"

/* The figures of each build; NaN if not known. */
enum build_listing_figure {
    FIGURE_REGISTERS,
    FIGURE_SPILL_BYTES,
    FIGURE_STACK_BYTES,
    FIGURE_SMEM_BYTES,
    FIGURE_BLOCKS_PER_SM,
    FIGURE_WARPS_PER_SM,
    FIGURE_OCCUPANCY,
    FIGURE_BUILD_S,
    FIGURE_COUNT,
};

const char *build_listing_figure_name(enum build_listing_figure figure);
int build_listing_figure_decimals(enum build_listing_figure figure);
double build_listing_figure(const struct build_row *row,
                            enum build_listing_figure figure);

/* Over the configurations that were built. */
struct build_listing_spread {
    struct summary all; /* valid if n > 0 */
    size_t n, above_zero;
    double sum;
};
struct build_listing_spread
build_listing_spread(const struct build_listing *listing,
                     enum build_listing_figure figure);

size_t build_listing_built(const struct build_listing *listing);
size_t
build_listing_distinct(const struct build_listing *listing); /* distinct machine
                                                              * codes */
size_t build_listing_gate_hits(const struct build_listing *listing,
                               enum build_listing_gate gate);

#define BUILD_LISTING_LIMITERS 4
extern const char *const build_listing_limiters[BUILD_LISTING_LIMITERS];
size_t build_listing_limited(const struct build_listing *listing,
                             const char *limiter);

/* The configurations that failed for one reason. */
struct build_listing_failure {
    const struct build_row *first;
    size_t n;
};
/* For the caller to free. */
struct build_listing_failure *
build_listing_failures(const struct build_listing *listing, size_t *n);

#endif
