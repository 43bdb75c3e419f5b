/* lessons.h - what a sweep shows besides the fastest configuration
 *
 * It shows how much each tunable matters, which ones change nothing, which
 * value is best with the others free, what failures have in common, and whether
 * the warnings of the warn gates came true.  docs/report.md explains how to
 * read it.
 *
 * lessons_of() is pure; any thread.  Time grows with points times tunables
 * squared, memory with points times tunables (docs/report.md has figures).
 */
#ifndef FA_COORDINATOR_LESSONS_LESSONS_H
#define FA_COORDINATOR_LESSONS_LESSONS_H

#include <stddef.h>

#include "coordinator/stats/dead_tunables.h"
#include "coordinator/stats/failure_pattern.h"
#include "coordinator/stats/importance.h"
#include "coordinator/stats/mann_whitney.h"

struct err;
struct lessons_input;
struct report;
struct store;
struct survey;

/* One value of a tunable, over all values of the others. */
struct lessons_value {
    char *text;
    size_t timed, failed;
    double best_s, median_s; /* NAN without a time */
};

struct lessons_tunable {
    char *name;
    struct lessons_value *values;
    size_t n;
    size_t best;  /* the value with the lowest best time; n: none is timed */
    double share; /* of the variance it explains (importance.h) */
    enum dead_tunables_verdict dead;
};

/* Failures of one kind: the same outcome and reason, ignoring numbers. */
struct lessons_failure {
    char *outcome, *reason; /* of an example */
    struct failure_pattern common;
};

enum lessons_truth {
    LESSONS_UNSEEN, /* no difference, or one that may be chance */
    LESSONS_TRUE,   /* the configurations warned of are slower */
    LESSONS_FALSE,  /* they are faster */
};

/* The configurations that a warn gate hits, and all others. */
struct lessons_gate {
    char *name;
    size_t warned, timed, failed; /* timed and failed: among the warned ones */
    size_t others_timed, others_failed;
    double median_s, others_median_s; /* NAN without a time */
    double slower; /* share of pairs in which the warned one is slower; NAN:
                    * unknown */
    double p;      /* two-sided, for "equally fast"; NAN: unknown */
    enum lessons_truth truth; /* at p = 5 % */
    size_t best_rank;         /* of the best warned one; 0: none is timed */
};

struct lessons {
    size_t timed, failed, pending;
    struct lessons_tunable *tunables;
    size_t n_tunables;
    struct importance importance;      /* axes are the tunables */
    struct lessons_failure *failures;  /* the most frequent first */
    size_t n_failures, other_failures; /* kinds beyond LESSONS_FAILURES_MAX */
    struct lessons_gate *gates;
    size_t n_gates;
    size_t built, codes; /* configurations built, and different cubins */
};

#define LESSONS_FAILURES_MAX 50 /* kinds; the others are counted */

/* Order two reasons of failures as strcmp() does, but with all numbers equal:
 * addresses, errors and line numbers differ in every failure. */
int lessons_reason_order(const char *a, const char *b);

void lessons_of(const struct lessons_input *input, struct lessons *out);
void lessons_fini(struct lessons *lessons);

/* Over the configurations that the report selects, or over all of the survey
 * that it is of, with the machine code of their builds.  ERR_STORE, or
 * ERR_INPUT for a stored sweep that cannot be read. */
int lessons_load(const struct report *report, struct survey *survey,
                 struct store *store, struct lessons *out, struct err *err);

#endif
