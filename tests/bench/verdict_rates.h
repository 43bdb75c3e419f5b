/* verdict_rates.h - how often the verdict of a confirmation is wrong
 *
 * It simulates passes of 20 blocks of 5 samples, for each noise of
 * tests/coordinator/noise.c and for 1 to 30 finalists.  All finalists are
 * equally fast, so only chance decides which one is picked as the best.
 */
#ifndef FA_TESTS_BENCH_VERDICT_RATES_H
#define FA_TESTS_BENCH_VERDICT_RATES_H

#include <stddef.h>

/* Writes JSON lines to stdout; the worst rates come last, to stderr. */
void verdict_rates(size_t n_passes);

#endif
