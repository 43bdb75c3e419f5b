/* report_config.h - a configuration of a report, and what it came to for each
 * shape
 *
 * Immutable once the report is loaded, which owns it.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_CONFIG_H
#define FA_COORDINATOR_RESULT_REPORT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "coordinator/result/report_outcome.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/stored_params.h"

/* One configuration for one shape. */
struct report_cell {
    enum outcome outcome;
    const char *reason;
    double *samples; /* seconds; NULL when there are none */
    size_t n_samples;
    bool power_capped;      /* while it was timed */
    const char *sampling;   /* none fixed settled loser unstable; or "" */
    struct summary summary; /* of the samples; NaN when there are none */
    double normalised_s;    /* median without its GPU; NaN: no canary */
    double time_s;          /* what it is ranked by: that, else the median */
    int64_t received_utc;   /* when its result came; 0 without one */
    double relative_l2, max_error;
    int64_t registers, spill_bytes; /* -1 when it was not measured */
    int64_t attempts;
    double *metrics;                   /* at the median, NaN without one */
    const char *host, *gpu, *gpu_name; /* "" when it was not measured */
    char *nonce; /* the evidence in tables result and build, or NULL */
};

struct report_config {
    char key[HASH_HEX];
    char source_key[HASH_HEX]; /* of its builds */
    char *json;                /* its parameters as they are stored */
    struct stored_params params;
    const char *warnings;
    int64_t point;
    bool baseline;
    enum outcome outcome;      /* over all shapes: the first that failed */
    const char *reason;        /* of that shape */
    int rank;                  /* 1 is the fastest; 0: not ranked */
    bool selected;             /* by --where */
    struct report_cell *cells; /* one a shape, of the report's */
};

#endif
