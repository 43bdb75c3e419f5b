/* verdict_rates.h - how often the verdict of a confirmation is wrong
 *
 * Simulated passes of 20 blocks of 5 samples, for each noise of
 * tests/coordinator/noise.c and for 1 to 30 finalists that are all equally
 * fast, so that the best of them is picked by luck alone.
 */
#ifndef FA_TESTS_BENCH_VERDICT_RATES_H
#define FA_TESTS_BENCH_VERDICT_RATES_H

#include <stddef.h>

/* Writes JSON lines to stdout, and the worst rates last, to stderr. */
void verdict_rates(size_t n_passes);

#endif
