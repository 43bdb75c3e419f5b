/* report_sweep.h - the sweep of a report: its file, shapes, gates and search
 *
 * Owned by the report, and immutable once that is loaded.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_SWEEP_H
#define FA_COORDINATOR_RESULT_REPORT_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/space/roofline.h"

struct report_shape {
    char *name;
    char *vars;     /* JSON object */
    double floor_s; /* NaN without floors */
    char *floor_name;
    struct roofline roofline; /* filled in by stored_spec_metrics() */
};

/* A metric of the sweep file, computed from a time, such as TFLOP/s. */
struct report_metric {
    char *name, *unit;
};

struct report_gate {
    char *name, *kind, *why;
    int64_t rejected_first, rejected_alone; /* -1: not counted */
    int64_t warned; /* configurations it warns of, among those used */
};

/* The sweep in the database. */
struct report_sweep {
    int64_t id, created_utc;
    char *facts;       /* JSON object */
    char *recorded_on; /* in a replay, the recorded device; else NULL */
    char *kernel;      /* of the record; NULL or "": not known */
    char *problem;     /* likewise: its sizes, in JSON */
    char *ending;      /* of the newest run; "" if it runs or was killed */
};

/* The stored sweep file. */
struct report_file {
    char *folder, *name, *text;
};

struct report_search {
    char *method;              /* exhaustive, lhs:20,tpe; "" unknown */
    int64_t seed, evaluations; /* it may ask for; 0: for all that pass */
    char *objective;           /* headline, geomean, a shape */
    bool headline;             /* the objective is the headline */
    int64_t in_flight;         /* at most so many at once; 0: not given */
    const char *effort;        /* a word */
};

#endif
