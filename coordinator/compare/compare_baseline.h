/* compare_baseline.h - the baseline as a measure that two sweeps have in common
 *
 * Both confirmations measure their baseline in each block.  If it is the same
 * machine code, the ratio of a configuration to it in the same block does not
 * depend on what the block shares: card, clock, temperature, drift.  So ratios
 * can be compared between two occasions, where times cannot.
 *
 * Where the machine code differs, a change may have made the baseline slower
 * too, and the ratios would hide it.  Then times are all there is.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_BASELINE_H
#define FA_COORDINATOR_COMPARE_COMPARE_BASELINE_H

#include <stddef.h>

struct compare_blocks;
struct compare_side;
struct location_shift_value;

enum compare_baseline {
    COMPARE_BASELINE_COMMON,
    COMPARE_BASELINE_OTHER,   /* another configuration, or none */
    COMPARE_BASELINE_CHANGED, /* other machine code, or it is not known */
    COMPARE_BASELINE_AWAY,    /* in too few blocks of one side */
    COMPARE_BASELINES,
};

/* Of a shape, by its number on each side. */
enum compare_baseline compare_baseline_of(const struct compare_side *a,
                                          size_t shape_a,
                                          const struct compare_side *b,
                                          size_t shape_b);
/* Why there are no ratios: "the baselines are different configurations". */
const char *compare_baseline_why(enum compare_baseline is);

/* log(time / time of the baseline) in each block that has both.  'out' has room
 * for of->n; returns how many. */
size_t compare_baseline_ratios(const struct compare_blocks *of,
                               const struct compare_blocks *baseline,
                               struct location_shift_value *out);

#endif
