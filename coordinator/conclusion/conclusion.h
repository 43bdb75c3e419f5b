/* conclusion.h - what a sweep came to: the verdict of its confirmation
 *
 * The one module that derives it from what is stored, whoever asks: report,
 * its JSON, confirm, bench, compare.  Only complete blocks count, and only
 * candidates that were right in all of them (docs/confirm.md).
 *
 * Immutable once loaded; the report that it was loaded with outlives it.
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"
#include "coordinator/confirm/confirmation.h"

struct blocks;
struct conclusion_external; /* conclusion_external.h */
struct report_cost;
struct err;
struct json_out;
struct report;
struct report_config;
struct store;

enum conclusion_state {
    CONCLUSION_NONE,   /* nothing was confirmed */
    CONCLUSION_BEGUN,  /* it can be continued */
    CONCLUSION_FAILED, /* it could not be brought to its end */
    CONCLUSION_DONE,
};

/* One that was in the running to the end, or that was not. */
struct conclusion_entry {
    size_t candidate;                   /* its place in 'confirmation' */
    char *name;                         /* "BLOCK_M=128 STAGES=2" */
    const struct report_config *config; /* NULL: not in the report */
    double registers, spill_bytes;      /* NAN: not known */
};

struct conclusion_shape {
    const char *name;
    struct blocks *blocks;    /* candidates are the entries, in order */
    struct finding *findings; /* one an entry */
    size_t leader;            /* an entry, or BEST_SET_NONE */
    size_t best;              /* of those that tie, by the tie-break */
    size_t n_tied;            /* with the leader, itself included */
    char *missed;   /* the fastest here in the sweep, NULL: it was compared */
    char *sentence; /* as that of the whole; NULL: there is none */
};

struct conclusion_blocks {
    int complete, broken;
};

/* Configurations of the sweep. */
struct conclusion_screening {
    size_t asked, pending; /* pending: without a result */
};

struct conclusion_cost {
    double hours; /* hosts were held, the proof included */
    double usd;   /* NAN: a host is unpriced */
};

struct conclusion {
    enum conclusion_state state;
    bool emulated; /* times of the cpu device: no verdict on a GPU */
    bool replayed; /* times that were recorded before */
    struct confirmation confirmation;
    struct conclusion_blocks blocks;
    size_t n_gpus;
    struct conclusion_entry *entries; /* the baseline first */
    size_t n;
    struct conclusion_entry *rejected; /* conclusion_reason() tells why */
    size_t n_rejected;
    struct conclusion_shape *shapes; /* the headline first */
    size_t n_shapes;

    struct conclusion_external *external; /* NULL: it was not run */

    size_t best; /* the entry to take at the headline, or BEST_SET_NONE */
    const struct report_config *baseline; /* NULL: not known */
    bool success; /* 'best' reached the target; never where emulated */
    struct conclusion_screening screening;
    char *why_none; /* why nothing was confirmed; NULL: something was */
    struct conclusion_cost cost;
    char *sentence; /* the headline in one, without a full stop */
};

/* Of the newest confirmation of this kind.  With none the state says so, and
 * there is a sentence all the same.  'cost' is of the same database.  ERR_STORE
 */
int conclusion_load(struct store *store, const struct report *report,
                    const struct report_cost *cost, enum confirmation_kind kind,
                    struct conclusion **out, struct err *err);
void conclusion_free(struct conclusion *conclusion); /* NULL is fine */

/* Of one in 'rejected'. */
const char *conclusion_reason(const struct conclusion *conclusion,
                              const struct conclusion_entry *rejected);

/* It was right where it was screened, and turned out wrong since. */
bool conclusion_rejects(const struct conclusion *conclusion,
                        const struct report_config *config);

/* For people: the sentence, one more for each further shape; then who was
 * compared, who was rejected and why, and how.  Or both. */
void conclusion_sentences_print(const struct conclusion *conclusion, FILE *to);
void conclusion_tables_print(const struct conclusion *conclusion, FILE *to);
void conclusion_print(const struct conclusion *conclusion, FILE *to);
/* For programs: an object under 'key' (docs/report.md). */
void conclusion_json(const struct conclusion *conclusion, struct json_out *out,
                     const char *key);

#endif
