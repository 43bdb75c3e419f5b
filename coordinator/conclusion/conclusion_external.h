/* conclusion_external.h - the external baselines in a conclusion
 *
 * They are a part of a conclusion.  Each is compared with the baseline and all
 * finalists in the blocks that it joined, as one family (analysis.h).
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_EXTERNAL_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_EXTERNAL_H

#include <stddef.h>
#include <stdio.h>

#include "coordinator/confirm/analysis.h"

struct conclusion;
struct conclusion_sample;
struct conclusion_shape;
struct err;
struct json_out;
struct store;

/* One of its times. */
struct conclusion_external_time {
    size_t shape; /* its index in the confirmation */
    int block;
    double seconds;
};

/* An external baseline at a shape, in the blocks that it joined. */
struct conclusion_against {
    struct block_time time;   /* NAN if there are none */
    size_t n_gpus;            /* on which it has a time */
    struct finding *findings; /* each entry over it; the intervals of all hold
                               * together */
};

struct conclusion_external {
    char *name;         /* its name in the sweep file */
    char *says;         /* its own name for itself, "" if it prints none */
    size_t ran, failed; /* runs of the command */
    char *why;          /* why the first failed run did; "" */
    struct conclusion_external_time *times;
    size_t n_times, cap;
    struct conclusion_against *shapes; /* those of the conclusion; NULL if no
                                        * candidate was compared */
};

/* Load the runs of the external baselines, before conclusion_judge().
 * ERR_STORE */
int conclusion_external_load(struct conclusion *conclusion, struct store *store,
                             struct err *err);
/* Compare them with the entries; 'samples' are those of the entries. */
void conclusion_external_judge(struct conclusion *conclusion,
                               const struct conclusion_sample *samples,
                               size_t n);
void conclusion_external_free(struct conclusion *conclusion);

/* By the name in the sweep file; NULL if it did not run. */
const struct conclusion_external *
conclusion_external_find(const struct conclusion *conclusion, const char *name);

/* What the speedup is over: its name and how each entry compares with it. */
struct conclusion_reference {
    const char *name;               /* "the baseline", or an external one */
    const struct finding *findings; /* NULL: it has no time at the shape */
    size_t n_gpus;                  /* on which they were compared */
};
/* What the rule of the pass is against, at a shape of the conclusion. */
struct conclusion_reference
conclusion_external_rule(const struct conclusion *conclusion, size_t shape);

/* "cudnn and flash have no time: WHY", for the caller to free; NULL if all have
 * some. */
char *conclusion_external_missing(const struct conclusion *conclusion);
void conclusion_external_print(const struct conclusion *conclusion, FILE *to);
void conclusion_external_json(const struct conclusion *conclusion,
                              struct json_out *out);

#endif
