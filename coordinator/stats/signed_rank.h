/* signed_rank.h - the centre of paired differences, by strata
 *
 * Wilcoxon's signed-rank test (1945), the estimate and the interval that Hodges
 * and Lehmann (1963) made of it, and a sum over strata with the same weight for
 * each stratum (after van Elteren, 1960).
 *
 * It needs one assumption: under the hypothesis, either sign of each difference
 * is equally likely.  If the order of the two inside a block is random, this
 * holds by design: heavy tails, drift and correlation between blocks do not
 * matter (Fisher's argument from randomisation). So levels are exact, while a
 * t-interval or a bootstrap over samples would need independent, well-behaved
 * samples.
 *
 * With several strata (GPUs) ranks are taken inside each, and each one's rank
 * sum counts in proportion to what it could have been.  If the strata disagree
 * by more than their noise, the interval spans the gap between them: more
 * blocks on one card cannot outvote the other.
 *
 * Pure; any thread.  Time grows with n log n (pair_averages.h); with up to 128
 * differences, the distribution of the rank sum is exact and costs n^3.
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
    double estimate; /* the median of all averages of two; NAN without values */
    double lo, hi;   /* of the centre; infinite with too few differences */
    double p;        /* two-sided, of "the centre is 0" */
    double p_above;  /* one-sided, of "the centre is at most 0" */
};

/* The distribution of the rank sum when either sign is equally likely.  It
 * depends on how many differences each stratum has, and on nothing else, so
 * those of one look at a confirmation share it.  Immutable once made. */
struct signed_rank_law;

/* sizes  [n] >= 1, of the strata in the order of their numbers
 * Free with signed_rank_law_free(); NULL is fine. */
struct signed_rank_law *signed_rank_law_new(const size_t *sizes, size_t n);
void signed_rank_law_free(struct signed_rank_law *law);

/* law         of these differences; NULL, or one of others: it is made here
 * d           [n], any order, not modified; n may be 0
 * confidence  of lo to hi, in (0, 1); 0: they are not asked for, and infinite,
 *             which costs less
 *
 * With n differences the smallest two-sided p is 2^(1-n). For 95 % the interval
 * is finite from 5 differences on.  (With 5 it is slightly wider than the range
 * of the values, and its level is 94 %.) Between the steps of the exact
 * distribution it is interpolated. */
void signed_rank_by(const struct signed_rank_law *law,
                    const struct difference *d, size_t n, double confidence,
                    struct signed_rank *out);
void signed_rank(const struct difference *d, size_t n, double confidence,
                 struct signed_rank *out);

/* p_above alone, which costs less. */
double signed_rank_p_above(const struct signed_rank_law *law,
                           const struct difference *d, size_t n);

#endif
