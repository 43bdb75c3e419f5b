/* signed_rank.h - where the centre of paired differences lies, by strata
 *
 * Wilcoxon's signed-rank test (1945), the estimate and the interval that
 * Hodges and Lehmann (1963) made of it, and a sum over strata in which each
 * stratum has the same say (after van Elteren, 1960).
 *
 * It needs one thing: that under the hypothesis each difference could as well
 * have had the other sign.  Where the order of the two inside a block was
 * drawn at random this holds by design, whatever the times did meanwhile:
 * tails, drift and correlation between blocks do not matter (Fisher's
 * argument from randomisation).  So levels are exact where a t-interval or a
 * bootstrap over samples would need independent, well-behaved ones.
 *
 * With several strata (GPUs) ranks are taken inside each, and each one's rank
 * sum counts in proportion to what it could have been.  When the strata
 * disagree by more than their noise, the interval spans what lies between
 * them: more blocks on one card cannot outvote the other.
 *
 * Pure; any thread.  Memory and time grow with the square of the differences.
 */
#ifndef FA_COORDINATOR_STATS_SIGNED_RANK_H
#define FA_COORDINATOR_STATS_SIGNED_RANK_H

#include <stddef.h>

struct difference {
    double value; /* finite */
    int stratum;  /* any number */
};

struct signed_rank {
    size_t n;
    double estimate; /* the middle of all averages of two; NAN without any */
    double lo, hi;   /* of the centre; infinite with too few differences */
    double p;        /* two-sided, of "the centre is 0" */
};

/* d           [n], any order, not modified; n may be 0
 * confidence  of lo to hi, in (0, 1)
 *
 * With n differences the smallest two-sided p is 2^(1-n).  For 95 % the
 * interval is finite from 5 differences on (at that number it is the range of
 * the values and a little more, level 94 %); in between the steps of the
 * exact distribution it is interpolated. */
void signed_rank(const struct difference *d, size_t n, double confidence,
                 struct signed_rank *out);

#endif
