/* compare.h - did it become slower: two databases, configuration by
 * configuration
 *
 * A is the base, B what is asked about.  A configuration is compared with
 * itself (its key: the values of its tunables), whatever the sources are, for
 * that is what a regression check is for.  Every ratio is time in A over time
 * in B: above 1, B is faster.
 *
 * Evidence is one median a confirmation block where both sides have
 * COMPARE_BLOCKS_LEAST of them (location_shift.h), else the screening samples,
 * with their own interval (location_shift.h; of fewer than that the noise of
 * finalists.h) made wider by what one measurement differs by from the next.
 * Nothing pairs the two sides, so what the two occasions differ by as a whole
 * is in every ratio: the warnings say what is known to differ.
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
    double alpha;     /* 0.05; intervals are of confidence 1 - alpha */
    double threshold; /* 0.03: ignore smaller changes */
    bool every;       /* any configuration decides, not only the winner */
};

#define COMPARE_RULES                     \
    {                                     \
        .alpha = 0.05, .threshold = 0.03, \
    }

#define COMPARE_BLOCKS_LEAST 4 /* values a side for an interval of 95 % */

enum compare_subject {
    COMPARE_WINNER, /* A's winner with B's winner */
    COMPARE_KEPT,   /* A's winner with the same configuration in B */
    COMPARE_CONFIG, /* a configuration of both, with itself */
};

enum compare_state {
    COMPARE_TIMED,  /* both have a time, and there is a verdict */
    COMPARE_BROKE,  /* right in A, and it failed in B */
    COMPARE_MENDED, /* failed in A, right in B */
    COMPARE_UNTIMED /* neither: failed in both, or not settled in one */
};

struct compare_row {
    enum compare_subject subject;
    enum compare_state state;
    const struct report_config *a, *b;
    size_t shape_a, shape_b; /* the same shape, in each report */
    bool blocks;             /* the evidence: else screening samples */
    size_t n_a, n_b;         /* medians or samples */
    double a_s, b_s;         /* medians of the evidence */
    struct speedup speedup;  /* of B over A */
    double p_holm;           /* corrected over the rows of its kind */
    enum verdict verdict;    /* FAST: B is faster */
    bool same_code;          /* one cubin, measured twice */
};

enum compare_outcome {
    COMPARE_FINE = EXIT_ANSWER_GOOD, /* no regression */
    COMPARE_REGRESSION = EXIT_ANSWER_BAD,
    COMPARE_INCONCLUSIVE = EXIT_ANSWER_UNKNOWN,
};

struct compare {
    const struct compare_side *a, *b;
    struct compare_rules rules;
    struct compare_row *rows;  /* the winner's first, then the configurations:
                                  slower first */
    size_t n_rows, n_deciding; /* the winner's */
    size_t verdicts[4];        /* of the configurations, by enum verdict */
    size_t broke, mended, untimed;
    size_t only_a, only_b; /* configurations */
    size_t same_code;      /* rows of one cubin, and the middle of them */
    double same_code_ratio;
    char **warnings; /* what differs and may be the reason */
    size_t n_warnings;
    enum compare_outcome outcome;
    char why[320]; /* the outcome in a sentence */
};

/* ERR_INPUT when no comparison would mean anything: emulated times and a
 * GPU's, GPUs of two models, another treatment of the cache, no shape in
 * common. */
int compare_make(const struct compare_side *a, const struct compare_side *b,
                 const struct compare_rules *rules, struct compare **out,
                 struct err *err);
void compare_free(struct compare *compare); /* NULL is fine */

const char *compare_outcome_name(enum compare_outcome outcome);
const char *compare_state_name(enum compare_state state);

#endif
