/* compare.h - detects regressions between two databases
 *
 * A is the base, B the one to check.  A configuration is compared with the one
 * that has the same key (the values of its tunables), even if the sources
 * differ: that is the purpose of a regression check.  Every ratio is time in A
 * over time in B: above 1, B is faster.
 *
 * The evidence is one median per confirmation block if both sides have
 * COMPARE_BLOCKS_LEAST of them (location_shift.h): its ratio to the baseline of
 * the same block if that is the same machine code on both sides
 * (compare_baseline.h), else its time.  Otherwise it is the screening samples.
 * Their interval (location_shift.h; for fewer samples the noise of finalists.h)
 * is widened by the variation from one measurement to the next.  Those of the
 * winners allow for their choice (compare_interval.h).  A difference between
 * the two occasions is part of every ratio of times.  The warnings list the
 * known differences.
 *
 * Immutable once made; the sides outlive it.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_H
#define FA_COORDINATOR_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"
#include "coordinator/text/exit_code.h"

struct compare_side;
struct err;
struct report_config;

struct compare_rules {
    double alpha;     /* 0.05; the intervals of the winner's rows hold
                       * together with 1 - alpha, and so do the others' */
    double threshold; /* 0.03: smaller changes are ignored */
    bool every;       /* every configuration decides, not only the winner */
    bool across_gpus; /* two records may come from two models of GPU */
};

#define COMPARE_RULES                     \
    {                                     \
        .alpha = 0.05, .threshold = 0.03, \
    }

#define COMPARE_BLOCKS_LEAST 4 /* on each side, for an interval of 95 % */

enum compare_subject {
    COMPARE_WINNER, /* A's winner against B's winner */
    COMPARE_KEPT,   /* A's winner against the same configuration in B */
    COMPARE_CONFIG, /* a configuration that both have, against itself */
};

enum compare_state {
    COMPARE_TIMED,  /* both have a time, so there is a verdict */
    COMPARE_BROKE,  /* correct in A, failed in B */
    COMPARE_MENDED, /* failed in A, correct in B */
    COMPARE_UNTIMED /* otherwise: failed in both, or unsettled in one */
};

struct compare_row {
    enum compare_subject subject;
    enum compare_state state;
    const struct report_config *a, *b;
    size_t shape_a, shape_b; /* the same shape, in each report */
    bool blocks;             /* evidence is block medians; otherwise screening
                              * samples */
    bool over_baseline;      /* ... and their ratios to the baseline */
    size_t n_a, n_b;         /* medians or samples */
    double a_s, b_s;         /* medians of the evidence */
    struct speedup speedup;  /* of B over A */
    double p_holm;           /* corrected over the rows of its kind */
    enum verdict verdict;    /* FAST: B is faster */
    bool same_code;          /* the same cubin, measured twice */
};

enum compare_outcome {
    COMPARE_FINE = EXIT_ANSWER_GOOD, /* no regression */
    COMPARE_REGRESSION = EXIT_ANSWER_BAD,
    COMPARE_INCONCLUSIVE = EXIT_ANSWER_UNKNOWN,
};

struct compare {
    const struct compare_side *a, *b;
    struct compare_rules rules;
    struct compare_row *rows;  /* the winner's first, then the configurations,
                                * slower ones first */
    size_t n_rows, n_deciding; /* the winner's */
    size_t verdicts[4];        /* of the configurations, by enum verdict */
    size_t broke, mended, untimed;
    size_t only_a, only_b; /* configurations */
    size_t same_code;      /* rows with the same cubin, and the median of their
                            * ratios */
    double same_code_ratio;
    char **warnings; /* differences that may be the reason */
    size_t n_warnings;
    enum compare_outcome outcome;
    char why[320]; /* the outcome in a sentence */
};

/* ERR_INPUT if a comparison would be meaningless: emulated times against a
 * GPU's, two models of GPU, different cache treatment, or no shape in
 * common. */
int compare_make(const struct compare_side *a, const struct compare_side *b,
                 const struct compare_rules *rules, struct compare **out,
                 struct err *err);
void compare_free(struct compare *compare); /* NULL is fine */

const char *compare_outcome_name(enum compare_outcome outcome);
const char *compare_state_name(enum compare_state state);

#endif
