/* external_rates.h - how often a verdict over an external baseline is wrong
 *
 * A confirmation has a baseline, ten finalists and two external baselines in
 * the same blocks, and is judged as coordinator/conclusion/ does:
 *
 *   once    the rule is against the first external baseline; it and the other
 *           one are in all 20 blocks, and there are no looks
 *   beside  the rule is against the baseline; the pass looks at its results,
 *           and both are in the blocks before the first look
 *   looks   the rule is against the first external baseline, and so are the
 *           looks; it is in every block, and the other one is in those before
 *           the first look
 */
#ifndef FA_TESTS_BENCH_EXTERNAL_RATES_H
#define FA_TESTS_BENCH_EXTERNAL_RATES_H

#include <stddef.h>

/* For each noise, each set of finalists and each case: prints JSON lines, and
 * the worst rates to stderr.
 * noise      the name of one noise, or NULL for all
 * finalists  the name of one set of finalists, or NULL for all */
void external_rates(size_t n_passes, const char *noise, const char *finalists);

#endif
