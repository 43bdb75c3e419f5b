/* report.h - what a sweep came to, read from its database
 *
 * Opinions derived from stored facts: medians, spreads, ranks and shares are
 * computed here, when they are asked for.  Only what belongs to the current
 * sweep, the current sources and the current way of measuring is compared;
 * results of earlier ones stay in the database and are counted in 'stale'.
 *
 * Immutable once loaded.
 */
#ifndef FA_COORDINATOR_REPORT_H
#define FA_COORDINATOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/stats.h"
#include "coordinator/params.h"
#include "coordinator/roofline.h"

struct err;
struct report_gpu; /* report_gpus.h */
struct store;
struct words; /* words.h */

/* The eight words of DESIGN's outcomes, and what is not settled yet. */
enum report_outcome {
    REPORT_CORRECT,
    REPORT_CONSTRAINTS,
    REPORT_COMPILE,
    REPORT_RUNTIME,
    REPORT_CORRECTNESS,
    REPORT_TIMEOUT,
    REPORT_LOST,
    REPORT_CRASH,
    REPORT_PENDING,
    REPORT_OUTCOMES,
};
const char *report_outcome_name(enum report_outcome outcome);
enum report_outcome report_outcome_of(const char *name); /* else pending */

struct report_shape {
    char *name;
    char *vars;     /* JSON object */
    double floor_s; /* NaN without floors */
    char *floor_name;
    struct roofline roofline; /* filled in by report_metrics() */
};

/* One configuration for one shape. */
struct report_cell {
    enum report_outcome outcome;
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
    struct params params;
    const char *warnings;
    int64_t point;
    bool baseline;
    enum report_outcome outcome; /* over all shapes: the first that failed */
    const char *reason;          /* of that shape */
    int rank;                    /* 1 is the fastest; 0: not ranked */
    bool selected;               /* by --where */
    struct report_cell *cells;   /* one a shape, of the report's */
};

/* A figure of the sweep file for a time, such as TFLOP/s. */
struct report_metric {
    char *name, *unit;
};

struct report_gate {
    char *name, *kind, *why;
    int64_t rejected_first, rejected_alone; /* -1: not counted */
    int64_t warned; /* configurations asked for that it warns of */
};

struct report {
    char *name, *device, *arch;
    char *folder, *file, *spec; /* the sweep file and its text */
    char *facts;                /* JSON object */
    char *recorded_on;          /* of a replay: the device; else NULL */
    int64_t sweep, created_utc;
    int64_t configurations, passed;
    char *method;    /* of the search: exhaustive, lhs:20,tpe; "" unknown */
    int64_t seed;    /* of it */
    char *objective; /* of it: headline, geomean, a shape */
    char *ending;    /* of the newest run; "" while it runs or was killed */
    int64_t stale;   /* outcomes of other sources or ways of measuring */
    struct report_gate *gates;
    size_t n_gates;
    struct report_shape *shapes; /* the first is the headline */
    size_t n_shapes;
    struct report_metric *metrics; /* filled in by report_metrics() */
    size_t n_metrics;
    struct report_config *configs; /* ranked first, the fastest on top */
    size_t n_configs;
    struct report_cell *cells;       /* of all of them */
    struct words *words;             /* texts of cells */
    int64_t counts[REPORT_OUTCOMES]; /* gated points are constraints */
    struct report_gpu *gpus;         /* that measured anything */
    size_t n_gpus;
    bool normalised; /* there are canaries */
};

/* ERR_STORE, or ERR_INPUT when the database holds no sweep. */
int report_load(struct store *store, struct report **out, struct err *err);
/* The same, quicker, without times, parameters and ranks: how far it is. */
int report_load_outcomes(struct store *store, struct report **out,
                         struct err *err);
void report_free(struct report *report); /* NULL is fine */

/* Configurations that pass the gates and have come to something. */
int64_t report_tried(const struct report *report);

/* By its key; NULL when it is not in the report. */
const struct report_config *report_find(const struct report *report,
                                        const char *key);

/* The place of a shape among the report's. */
bool report_find_shape(const struct report *report, const char *name,
                       size_t *out);

/* The one with baseline set, NULL when it was not asked for. */
const struct report_config *report_baseline(const struct report *report);

#endif
