/* location_shift.h - by how much two sets of values differ that nothing pairs
 *
 * The middle of all differences of one value of each set, and the interval
 * that the rank test of Mann and Whitney (1947) makes of them, as Hodges and
 * Lehmann (1963) showed: it holds for noise of any shape.  Differences are
 * taken inside a stratum (a GPU) only, and each stratum has the same say.
 *
 * It takes the values as independent: give it one median a block, not samples
 * of one process.  What two occasions differ by as a whole cannot be seen in
 * it; where two sets were measured in the same blocks, signed_rank.h can.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_LOCATION_SHIFT_H
#define FA_COORDINATOR_STATS_LOCATION_SHIFT_H

#include <stddef.h>

struct location_shift_value {
    double value; /* finite */
    int stratum;  /* any number; those of one set only do not count */
};

struct location_shift {
    size_t n_a, n_b; /* values that count */
    double estimate; /* of a less b; NAN without a common stratum */
    double lo, hi;   /* infinite with too few values */
    double p;        /* two-sided, of "no shift"; 1 without values */
};

/* More values of a set and stratum than this are thinned out evenly, which
 * bounds time and memory by the square of it. */
#define LOCATION_SHIFT_VALUES_MAX 1000

/* a, b        any order, not modified; may be empty
 * confidence  of lo to hi, in (0, 1)
 *
 * With one stratum of at most LOCATION_SHIFT_EXACT_MAX values a set the level
 * is exact (4 and 4 values are the fewest for 95 %), else that of a normal
 * approximation. */
#define LOCATION_SHIFT_EXACT_MAX 12
void location_shift(const struct location_shift_value *a, size_t n_a,
                    const struct location_shift_value *b, size_t n_b,
                    double confidence, struct location_shift *out);

#endif
