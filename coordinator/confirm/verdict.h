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
 * Holm's correction (1979) over all candidates that are judged together
 * (mann_whitney_holm()).  SAME means that the two are equal for practical
 * purposes.  AMBG means that the measurements cannot decide.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_VERDICT_H
#define FA_COORDINATOR_CONFIRM_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

struct speedup;

enum verdict {
    VERDICT_SAME,
    VERDICT_FAST,
    VERDICT_SLOW,
    VERDICT_AMBG,
};

struct verdict_rules {
    double alpha;  /* 0.05: of one family, so often may a claim be wrong */
    double floor;  /* 0.005: a difference of less than 0.5 % does not count */
    double target; /* 1.10: the speedup that the sweep aims at */
};

#define VERDICT_RULES                                 \
    {                                                 \
        .alpha = 0.05, .floor = 0.005, .target = 1.10 \
    }

/* s       over the baseline
 * p_holm  that the difference is not there, corrected for the number of
 *         candidates */
enum verdict verdict_of(const struct speedup *s, double p_holm,
                        const struct verdict_rules *rules);

const char *verdict_name(enum verdict verdict); /* "SAME" and so on */

/* A difference can be certain and still be within the floor: "faster" or
 * "slower" if the whole interval is on that side of 1, otherwise "either". */
const char *verdict_side(const struct speedup *s);
/* Both, for people: "SAME", "SAME, faster", "FAST" and so on. */
const char *verdict_words(enum verdict verdict, const struct speedup *s);

/* Is it shown that it reached the target?  The verdict is FAST, and the whole
 * interval is at or above 'target'.  The best of several was selected because
 * it measured fast, so the interval must hold for all of them together. */
bool verdict_is_success(enum verdict verdict, const struct speedup *s,
                        const struct verdict_rules *rules);

/* The fewest blocks with which one of 'n_finalists' can be FAST at all.  With
 * fewer, even the smallest possible p does not survive the correction. */
size_t verdict_blocks_needed(size_t n_finalists,
                             const struct verdict_rules *rules);

#endif
