/* pair_averages.h - the averages of all pairs of values, by their order
 *
 * n values have n (n + 1) / 2 averages of two, those of a value with itself
 * included (Walsh, 1949).  The rank test of Wilcoxon needs a few of them, such
 * as their median (Hodges and Lehmann, 1963).  With the values in order, the
 * averages of each one with those from it on are a sorted row.  So those up to
 * a limit are counted along a staircase in time n, and one of a given place is
 * found by quickselect over the rows, in expected time n log n, without making
 * the others (after Monahan, 1984, algorithm 616).
 *
 * Averages are taken within a stratum, and each counts with the weight of its
 * stratum.
 *
 * Thread rule: one thread an object.
 */
#ifndef FA_COORDINATOR_STATS_PAIR_AVERAGES_H
#define FA_COORDINATOR_STATS_PAIR_AVERAGES_H

#include <stddef.h>
#include <stdint.h>

struct pair_averages_stratum {
    const double *values; /* [n] ascending, finite; borrowed */
    size_t n;             /* >= 1 */
    uint64_t weight;      /* of each average, >= 1 */
};

struct pair_averages;

/* strata  [n], n >= 1; copied.  Free with pair_averages_free(). */
struct pair_averages *
pair_averages_new(const struct pair_averages_stratum *strata, size_t n);
void pair_averages_free(struct pair_averages *averages);

/* The weight of all averages below a value, and of those up to it. */
struct pair_averages_weight {
    uint64_t below, upto;
};
struct pair_averages_weight pair_averages_weigh(struct pair_averages *averages,
                                                double value);

/* The averages at which the sum of the weights, from the lowest on, reaches
 * 'position' and 'position' + 1.  A position is 1 to the weight of all; others
 * count as the nearest of these. */
void pair_averages_at(struct pair_averages *averages, int64_t position,
                      double out[2]);

/* How many averages were looked at since it was made: what it cost. */
uint64_t pair_averages_steps(const struct pair_averages *averages);

#endif
