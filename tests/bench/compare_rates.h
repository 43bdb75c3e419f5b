/* compare_rates.h - how often a comparison of two winners is wrong
 *
 * Each side is a confirmation of ten finalists.  The comparison has the rows
 * that coordinator/compare/ has: A's winner against B's winner, and against the
 * same configuration in B; of times, and of ratios to the baseline.  The drift
 * of B runs the other way than that of A.
 */
#ifndef FA_TESTS_BENCH_COMPARE_RATES_H
#define FA_TESTS_BENCH_COMPARE_RATES_H

#include <stdbool.h>
#include <stddef.h>

/* For each noise and each set of finalists: prints JSON lines, and the worst
 * rates to stderr.
 * noise  the name of one noise, or NULL for all
 * with_looks  both confirmations end by looks; else they have 20 blocks */
void compare_rates(size_t n_passes, const char *noise, bool with_looks);

#endif
