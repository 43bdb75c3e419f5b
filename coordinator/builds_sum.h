/* builds_sum.h - many builds in few figures, for their listings */
#ifndef FA_COORDINATOR_BUILDS_SUM_H
#define FA_COORDINATOR_BUILDS_SUM_H

#include <stddef.h>

#include "common/stats.h"
#include "coordinator/builds.h"

/* What is told of each build; NaN where it is not known. */
enum builds_figure {
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

const char *builds_figure_name(enum builds_figure figure);
int builds_figure_decimals(enum builds_figure figure);
double builds_figure(const struct build_row *row, enum builds_figure figure);

/* Of the configurations that were built. */
struct builds_spread {
    struct summary all; /* when n > 0 */
    size_t n, above_zero;
    double sum;
};
struct builds_spread builds_spread(const struct builds *builds,
                                   enum builds_figure figure);

size_t builds_built(const struct builds *builds);
size_t builds_distinct(const struct builds *builds); /* machine codes */
size_t builds_gate_hits(const struct builds *builds, enum builds_gate gate);

#define BUILDS_LIMITERS 4
extern const char *const builds_limiters[BUILDS_LIMITERS];
size_t builds_limited(const struct builds *builds, const char *limiter);

/* The configurations that failed for one reason. */
struct builds_failure {
    const struct build_row *first;
    size_t n;
};
/* For the caller to free. */
struct builds_failure *builds_failures(const struct builds *builds, size_t *n);

#endif
