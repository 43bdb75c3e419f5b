/* survey_internal.h - columns of a survey; private to survey*.c */
#ifndef FA_COORDINATOR_SURVEY_SURVEY_INTERNAL_H
#define FA_COORDINATOR_SURVEY_SURVEY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/result/report_rows.h"
#include "coordinator/survey/survey_id.h"

enum {
    SURVEY_BASELINE = 1,
    SURVEY_UNSTABLE = 2, /* the samples of the headline */
    SURVEY_CAPPED = 4,   /* likewise */
    SURVEY_WANTED = 8,   /* in the report */
};

struct survey_failure {
    uint32_t config, shape;
    const char *reason; /* in the report's pool */
};

/* A configuration is its index in order of keys, a cell is one at a shape. */
struct survey {
    struct report_rows rows;
    struct report_gpus *gpus;
    struct stored_metrics *metrics; /* NULL: none */
    size_t n, cap, n_shapes;
    struct survey_id *keys;   /* [n] */
    uint64_t *sources;        /* [n] half of the hash of its sources */
    int64_t *points;          /* [n] */
    unsigned char *flags;     /* [n] */
    unsigned char *outcomes;  /* [n] */
    unsigned char *correct;   /* [cells] */
    double *times;            /* [cells] */
    struct survey_id *nonces; /* [cells] of the results; NULL once read */
    struct survey_failure *failures; /* in order of 'config' */
    size_t n_failures, cap_failures;
    uint32_t *order;  /* [n] the configurations by rank */
    uint32_t *places; /* [n] of the configurations in 'order' */
    size_t ranked;
};

/* survey_scan.c: configurations and outcomes.  0, SURVEY_UNFIT or ERR_STORE */
int survey_scan(struct survey *survey, struct err *err);
/* survey_times.c: the times of cells and what the canaries say. */
int survey_times(struct survey *survey, struct err *err);
/* The configuration with a key, or -1. */
int64_t survey_index(const struct survey *survey, const char *key);

#endif
