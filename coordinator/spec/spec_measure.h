/* spec_measure.h - how the kernels of a sweep file are measured and judged
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_MEASURE_H
#define FA_COORDINATOR_SPEC_SPEC_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/spec/spec_rule.h"

#define SPEC_SAMPLES_MAX 1000
#define SPEC_SEEDS_MAX 8 /* of a proof */

/* Inputs that a normal distribution never produces. */
enum spec_edge {
    SPEC_EDGE_ZEROS,
    SPEC_EDGE_TIES,
    SPEC_EDGE_LARGE,
    SPEC_EDGE_TINY,
    SPEC_EDGE_EXTREME,
    SPEC_EDGE_NEGATIVE,
    SPEC_EDGE_OFFSET,
};

enum {
    SPEC_EDGES = 7
};

struct spec_measure {
    int canary_every;   /* measurements; 0: no canary, -1: the device's
                         * default */
    int canary_samples; /* samples of each canary */
    int warmups;
    int least, most; /* samples; if both are equal, exactly that many */
    double noise;    /* target: half the interval over the median */
    double margin;   /* over the fastest; a slower measurement stops early */
    double timeout_s;
    int64_t seed;
    unsigned edges; /* bit e: enum spec_edge e */
    int proof_seeds;
    bool proof;     /* not of the file: the measurements of fuzz */
    const char *l2; /* a word of common/l2_mode.h, not none */
};

struct spec_figures {
    struct spec_named *metrics;
    size_t n_metrics;
    struct spec_named *floors;
    size_t n_floors;
};

/* How the best are confirmed, and the thresholds of the verdict
 * (docs/confirm.md). */
struct spec_confirm {
    bool off;
    bool unproved;  /* no fuzz proof before it */
    int64_t blocks; /* of a bench, and of a pass without looks */
    int64_t samples, finalists_max;
    int64_t blocks_max, blocks_group; /* of a confirmation with looks */
    double floor, target, alpha;
    const char *against; /* the name of an external baseline, borrowed from it;
                          * NULL: the baseline */
};

#define SPEC_BUDGET_LEAST 1e-6 /* of a cap that is given */

struct spec_budget {
    double usd, hours; /* 0: no cap */
};

#endif
