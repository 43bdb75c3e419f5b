/* stats.h - median and spread of measured times
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_STATS_H
#define FA_COORDINATOR_STATS_STATS_H

#include <stddef.h>

struct summary {
    double median;
    double spread; /* median absolute deviation times 1.4826 */
    double min, max;
};

/* Median and spread of one configuration's kernel times.
 *
 * s    [n] times in seconds (or anything else), any order, not modified
 * n    >= 1; with 1 the spread is 0
 * out  median (the mean of the middle two when n is even), and the median
 *      absolute deviation times 1.4826, which estimates the standard
 *      deviation of normal noise without its outliers
 *
 * Not the mean: one clock change makes a mean say nothing about the kernel.
 */
void stats_summary(const double *s, size_t n, struct summary *out);

/* The median alone, in time n; changes the order of 's'. */
double stats_median(double *s, size_t n);

#endif
