/* report_config.h - a configuration of a report, with its outcome for each
 * shape
 *
 * Owned by the report, and immutable once that is loaded.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_CONFIG_H
#define FA_COORDINATOR_RESULT_REPORT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "coordinator/stats/stats.h"
#include "coordinator/stored/stored_params.h"

/* One configuration for one shape. */
struct report_cell {
    enum outcome outcome;
    const char *reason;
    double *samples; /* seconds; NULL if there are none */
    size_t n_samples;
    bool power_capped;      /* the power limit was active during the timing */
    const char *sampling;   /* none fixed settled loser unstable; or "" */
    struct summary summary; /* of the samples; NaN if there are none */
    double normalised_s;    /* normalised median; NaN: no canary */
    double time_s;          /* decides the rank: normalised_s, otherwise the
                             * median; the median if only outcomes are loaded */
    int64_t received_utc;   /* time of its result; 0 without one */
    double relative_l2, max_error;
    int64_t registers, spill_bytes; /* -1: not known */
    int64_t attempts;
    double *metrics;                   /* for the median; NaN without one */
    const char *host, *gpu, *gpu_name; /* "" if it was not measured */
    char *nonce; /* key of the evidence in tables result and build, or NULL */
};

struct report_config {
    char key[HASH_HEX];
    char source_key[HASH_HEX]; /* of its builds */
    char *json;                /* its parameters as stored */
    struct stored_params params;
    const char *warnings;
    int64_t point;
    bool baseline;
    enum outcome outcome;      /* of the first shape that failed, else of all */
    const char *reason;        /* of that shape */
    bool refuted;              /* right in the sweep, not in a confirmation */
    int rank;                  /* 1 is the fastest; 0: not ranked */
    bool selected;             /* matches --where */
    struct report_cell *cells; /* one for each shape of the report */
};

/* The outcome for a word; pending if there is no row. */
enum outcome report_config_outcome(const char *name);

/* The samples vary more than the noise limit, or the GPU was throttled: from
 * how they were taken. */
bool report_config_is_unstable(const char *sampling);

#endif
