/* best_set.h - the candidates that could all be the fastest
 *
 * The leader has the lowest time, but the lowest of several noisy times is low
 * partly by luck.  So a set is reported.  It leaves out only candidates that
 * are slower than the leader by more than the floor, with a one-sided p that
 * survives Bonferroni's correction over the comparisons.  The truly fastest
 * candidate is left out with a probability of at most alpha, whichever one
 * leads (multiple comparisons with the best; Hsu, 1981).
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_BEST_SET_H
#define FA_COORDINATOR_CONFIRM_BEST_SET_H

#include <stdbool.h>
#include <stddef.h>

struct blocks;
struct verdict_rules;

#define BEST_SET_NONE ((size_t)-1)

/* eligible  [candidates], false for the baseline and whatever may not win
 * tied      [candidates], true for the leader and all that tie with it
 * Returns the leader, or BEST_SET_NONE if no eligible one was measured. */
size_t best_set_of(const struct blocks *blocks, const bool *eligible,
                   const struct verdict_rules *rules, bool *tied);

/* Choose among those that tie: the lowest first key, among equals the lowest
 * second key, and so on; at the end the lowest index.  So the choice does not
 * depend on noise inside the set.
 *
 * keys  [n][n_keys], smaller is better, as registers, spilled bytes, shared
 *       memory, point number
 * Returns BEST_SET_NONE if none is tied. */
size_t best_set_break(const bool *tied, size_t n, const double *keys,
                      size_t n_keys);

#endif
