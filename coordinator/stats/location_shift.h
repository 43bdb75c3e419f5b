/* location_shift.h - the shift between two unpaired sets of values
 *
 * The estimate is the median of all differences between a value of one set and
 * a value of the other.  The interval comes from the rank test of Mann and
 * Whitney (1947), as Hodges and Lehmann (1963) showed; it holds for noise of
 * any shape.  Differences are taken inside a stratum (a GPU) only, and each
 * stratum has the same weight.
 *
 * Values must be independent: give it one median a block, not samples of one
 * process.  If the two sets were measured on different occasions, the
 * difference of the occasions is part of the estimate.  If both were measured
 * in the same blocks, use signed_rank.h.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_LOCATION_SHIFT_H
#define FA_COORDINATOR_STATS_LOCATION_SHIFT_H

#include <stddef.h>

struct location_shift_value {
    double value; /* finite */
    int stratum;  /* any number; a stratum with values of one set only is
                   * ignored */
};

struct location_shift {
    size_t n_a, n_b; /* values that are used */
    double estimate; /* of a less b; NAN without a common stratum */
    double lo, hi;   /* infinite with too few values */
    double p;        /* two-sided, of "no shift"; 1 without values */
};

/* More values of a set and stratum than this are thinned out evenly, because
 * time and memory grow with the square. */
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

/* How often each end may be on the wrong side of the truth, in (0, 0.5). */
struct location_shift_miss {
    double lo, hi;
};

/* The same with ends of different levels.  p does not depend on them. */
void location_shift_ends(const struct location_shift_value *a, size_t n_a,
                         const struct location_shift_value *b, size_t n_b,
                         struct location_shift_miss miss,
                         struct location_shift *out);

#endif
