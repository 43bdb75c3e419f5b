/* sequential_rates.h - what a pass with looks finds, and at what price
 *
 * Simulated passes of a baseline and ten finalists with the default looks, for
 * each noise of tests/coordinator/noise.c: how often a gap of 1 % is found and
 * with how many samples, how often a verdict is wrong, and how often the
 * interval of the named best contains the truth.  For comparison, passes with
 * 20 blocks and one look.
 */
#ifndef FA_TESTS_BENCH_SEQUENTIAL_RATES_H
#define FA_TESTS_BENCH_SEQUENTIAL_RATES_H

#include <stddef.h>

/* Writes JSON lines to stdout, and the worst rates last, to stderr.
 * noise      the name of one; NULL: all of them
 * finalists  the same of the scenarios, as "all at the floor"
 * cap        blocks_max of a pass, >= 1 */
void sequential_rates(size_t n_passes, const char *noise, const char *finalists,
                      int cap);

#define SEQUENTIAL_RATES_CAP 70 /* the default of a sweep file */

#endif
