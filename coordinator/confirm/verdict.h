/* verdict.h - the verdict on a measured speedup
 *
 *              1/(1+floor)   1   1+floor
 *   SLOW  |---|     :        :        :
 *   SAME            :   |----:--|     :
 *   FAST            :        :        :  |----|
 *   AMBG            :        :  |-----:---|
 *
 * For FAST and SLOW, the whole interval must be beyond the floor, because a
 * certain but tiny difference does not count, and the p value must survive
 * Holm's correction over all finalists (mann_whitney_holm()). SAME means that
 * the two are equal for practical purposes.  AMBG means that the measurements
 * cannot decide.
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
    double floor;  /* 0.005: a difference of less than 0.5 % does not count */
    double target; /* 1.10: the speedup that the sweep aims at */
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

/* Did it reach the target?  The speedup is at least 'target', the verdict is
 * FAST, and the intervals of the two times do not overlap. */
bool verdict_is_success(enum verdict verdict, const struct speedup *s,
                        const struct block_time *mine,
                        const struct block_time *baseline,
                        const struct verdict_rules *rules);

/* The fewest blocks with which one of 'n_finalists' can be FAST at all.  With
 * fewer, even the smallest possible p does not survive the correction. */
size_t verdict_blocks_needed(size_t n_finalists,
                             const struct verdict_rules *rules);

#endif
