/* named_best.h - the finalist that a verdict names
 *
 * The fastest of those that tie with the leader and have the strongest result:
 * success before FAST, FAST before the rest (docs/confirm.md).
 */
#ifndef FA_TESTS_BENCH_NAMED_BEST_H
#define FA_TESTS_BENCH_NAMED_BEST_H

#include <stddef.h>

struct finding;

/* found  [n], 0 is the baseline */
size_t named_best(const struct finding *found, size_t n);

#endif
