/* spec_measure.h - how the kernels of a sweep file are measured and judged
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_MEASURE_H
#define FA_COORDINATOR_SPEC_SPEC_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/spec/spec_rule.h"

#define SPEC_SAMPLES_MAX 1000

struct spec_measure {
    int canary_every;   /* measurements; 0 for no canary, -1 as the device */
    int canary_samples; /* of each */
    int warmups;
    int least, most; /* samples; the same: that many */
    double noise;    /* wanted: half an interval over the median */
    double margin;   /* over the fastest, beyond which no more are taken */
    double timeout_s;
    int64_t seed;
    const char *l2; /* flush warm rotate */
};

/* What a time is set against. */
struct spec_figures {
    struct spec_named *metrics;
    size_t n_metrics;
    struct spec_named *floors;
    size_t n_floors;
};

/* docs/confirm.md */
struct spec_confirm {
    bool off;
    bool unproved; /* no fuzz before it */
    int64_t blocks, samples, finalists_max;
    double floor, target, alpha;
};

struct spec_budget {
    double usd, hours; /* 0: no cap */
};

#endif
