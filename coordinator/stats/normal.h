/* normal.h - the standard normal distribution
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_NORMAL_H
#define FA_COORDINATOR_STATS_NORMAL_H

double normal_cdf(double z); /* P(Z <= z), exact into both tails */

/* The z with P(Z <= z) = p, for p in (0, 1). */
double normal_quantile(double p);

#endif
