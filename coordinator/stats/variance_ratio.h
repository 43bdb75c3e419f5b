/* variance_ratio.h - is one variance larger than another?
 *
 * Fisher's F: the ratio of two estimates of one variance.  Its tail is that of
 * Paulson (1942), who brings the cube root of F to the normal distribution.  It
 * is within 12 % of the true one for 9 and 20 degrees of freedom or more, down
 * to tails of 0.001.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_VARIANCE_RATIO_H
#define FA_COORDINATOR_STATS_VARIANCE_RATIO_H

/* P(F >= ratio) for an upper variance with 'upper' degrees of freedom and a
 * lower one with 'lower', all > 0. */
double variance_ratio_p(double ratio, double upper, double lower);

#endif
