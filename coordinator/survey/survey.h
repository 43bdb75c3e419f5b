/* survey.h - the results of a sweep of any size, with a few bytes for each
 *
 * Reads the same as report_load(), but of each configuration it keeps only its
 * time, outcome and key: some 80 bytes, where struct report has a thousand.
 * What is printed of one is read again when it is its turn: survey_keep() makes
 * a report of a few, and survey_each() shows all, by rank.
 *
 * All reads must see one state of the database: begin a transaction before.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_SURVEY_SURVEY_H
#define FA_COORDINATOR_SURVEY_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"

struct err;
struct report;
struct report_config;
struct store;
struct survey;

/* 0; SURVEY_UNFIT for a sweep that only report_load() reads: it has no shapes,
 * or keys that are no hashes; or the errors of report_load().  'store' must
 * outlive it. */
#define SURVEY_UNFIT 1
int survey_open(struct store *store, struct survey **out, struct err *err);
void survey_close(struct survey *survey); /* NULL is fine */

/* Without configurations until survey_keep().  The survey's. */
struct report *survey_report(const struct survey *survey);

/* Let the report have these configurations, in order of rank: the 'top'
 * fastest, all baselines, those that are wanted, and for each shape and for all
 * together the fastest that is none of the latter.  Call it once. */
void survey_want(struct survey *survey, const char *key); /* before */
int survey_keep(struct survey *survey, size_t top, struct err *err);

/* Evaluate the floors and the metrics of the report, and of what survey_each()
 * will show.  As stored_spec_metrics(). */
int survey_metrics(struct survey *survey, struct err *err);

/* Show the first 'most' configurations, 0 for all, by rank.  'part' is as the
 * report, with a few configurations; it dies after the call. */
typedef void survey_fn(void *arg, const struct report *part,
                       const struct report_config *config);
int survey_each(struct survey *survey, size_t most, survey_fn *fn, void *arg,
                struct err *err);

/* What is kept of a configuration.  'at' is its place in order of rank. */
struct survey_row {
    int64_t point;
    enum outcome outcome;
    bool ranked;
    double time_s;      /* at the headline shape */
    const char *reason; /* of a failure, else "" */
    uint32_t shape;     /* at which it failed; their number: a confirmation
                         * refuted it */
};
size_t survey_size(const struct survey *survey);
struct survey_row survey_row(const struct survey *survey, size_t at);
void survey_key(const struct survey *survey, size_t at, char out[HASH_HEX]);
/* The place of a configuration, or -1. */
int64_t survey_find(const struct survey *survey, const char *key);
/* Whether a build of it has the current sources. */
bool survey_is_current(const struct survey *survey, size_t at,
                       const char *source_key);

#endif
