/* report.h - the results of a sweep, read from its database
 *
 * The database stores facts; medians, spreads, ranks and shares are computed
 * here when they are needed.  Only results of the current sweep, with the
 * current sources and the current way of measuring, are compared.  Older
 * results stay in the database and are counted in 'stale'.
 *
 * Immutable once loaded.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_H
#define FA_COORDINATOR_RESULT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "coordinator/live/tally.h"
#include "coordinator/result/report_config.h"
#include "coordinator/result/report_sweep.h"

struct err;
struct report_gpu; /* report_gpus.h */
struct store;
struct string_pool; /* string_pool.h */

struct report_counts {
    int64_t configurations, passed;
    int64_t stale; /* outcomes with other sources or ways of measuring */
    int64_t outcomes[OUTCOMES_OF_CONFIG]; /* with points that gates reject */
    struct tally tally;                   /* of those asked for */
    int64_t outside;      /* of the tried ones: a baseline outside the axes */
    size_t asked, ranked; /* all configurations; those with a rank */
    size_t unstable, capped; /* of these, at the headline shape */
};

struct report {
    char *name, *device, *arch;
    struct report_sweep sweep;
    struct report_file file;
    struct report_search search;
    struct report_counts counts;
    struct report_gate *gates;
    size_t n_gates;
    struct report_shape *shapes; /* the first is the headline */
    size_t n_shapes;
    struct report_metric *metrics; /* filled in by stored_spec_metrics() */
    size_t n_metrics;
    struct report_config *configs; /* ranked ones first, the fastest on top */
    size_t n_configs;          /* counts.asked, or fewer (survey/survey.h) */
    struct report_cell *cells; /* the cells of all configurations */
    struct string_pool *pool;  /* texts of cells */
    struct report_gpu *gpus;   /* GPUs with measurements */
    size_t n_gpus;
    bool normalised; /* there are canaries */
};

/* What a confirmation found wrong is a failure (stored_refuted.h).
 * ERR_STORE, or ERR_INPUT if the database has no sweep. */
int report_load(struct store *store, struct report **out, struct err *err);
/* The same before any confirmation, for what proves configurations: it may
 * find that one is right after all. */
int report_load_screened(struct store *store, struct report **out,
                         struct err *err);
/* As report_load() for progress only: faster, without samples, parameters and
 * ranks. */
int report_load_outcomes(struct store *store, struct report **out,
                         struct err *err);
void report_free(struct report *report); /* NULL is fine */

/* Configurations that pass the gates and have an outcome. */
int64_t report_tried(const struct report *report);

/* Configurations that gates reject.  They are counted as constraints, which
 * are also those that no device can launch or that a record calls invalid. */
int64_t report_rejected(const struct report *report);

/* The counts that are shown, in order, with the points that gates reject apart
 * from the other constraints.  'i' is below REPORT_SHOWN_COUNTS. */
#define REPORT_SHOWN_COUNTS (OUTCOMES_OF_CONFIG + 1)
const char *report_shown_count(const struct report *report, int i,
                               int64_t *count);

/* Find a configuration by its key; NULL if the report does not have it. */
const struct report_config *report_find(const struct report *report,
                                        const char *key);

/* The index of a shape in the report. */
bool report_find_shape(const struct report *report, const char *name,
                       size_t *out);

/* The baseline; NULL if it was not used. */
const struct report_config *report_baseline(const struct report *report);

/* Its times are of the cpu device, also if they were recorded there. */
bool report_is_emulated(const struct report *report);

#endif
