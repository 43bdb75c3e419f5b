/* verdict.h - what a measured speedup allows to be said
 *
 *              1/(1+floor)   1   1+floor
 *   SLOW  |---|     :        :        :
 *   SAME            :   |----:--|     :
 *   FAST            :        :        :  |----|
 *   AMBG            :        :  |-----:---|
 *
 * The whole interval must lie on one side of the floor, for a difference that
 * is certain but does not matter does not count; and FAST and SLOW must survive
 * Holm's correction over all finalists (mann_whitney_holm()).  SAME is the
 * finding that the two are equal for practical purposes, AMBG that the
 * measurements do not tell.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_VERDICT_H
#define FA_COORDINATOR_CONFIRM_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

struct block_time;
struct speedup;

enum verdict {
    VERDICT_SAME,
    VERDICT_FAST,
    VERDICT_SLOW,
    VERDICT_AMBG,
};

struct verdict_rules {
    double alpha;  /* 0.05; intervals are of confidence 1 - alpha */
    double floor;  /* 0.005: less than 0.5 % is no difference */
    double target; /* 1.10: the speedup that the sweep is after */
};

#define VERDICT_RULES                                 \
    {                                                 \
        .alpha = 0.05, .floor = 0.005, .target = 1.10 \
    }

/* s       over the baseline, its interval of confidence 1 - alpha
 * p_holm  s->p, corrected for the number of finalists */
enum verdict verdict_of(const struct speedup *s, double p_holm,
                        const struct verdict_rules *rules);

const char *verdict_name(enum verdict verdict); /* "SAME" and so on */

/* Did it reach the target: the speedup is at least 'target', it is FAST, and
 * the intervals of the two times do not overlap. */
bool verdict_is_success(enum verdict verdict, const struct speedup *s,
                        const struct block_time *mine,
                        const struct block_time *baseline,
                        const struct verdict_rules *rules);

/* The fewest blocks with which one of 'n_finalists' can be FAST at all: with
 * fewer the smallest possible p does not survive the correction. */
size_t verdict_blocks_needed(size_t n_finalists,
                             const struct verdict_rules *rules);

#endif
