/* tie.h - the contestants that could all be the fastest
 *
 * The leader has the lowest time; but the best of several noisy times is low
 * partly by luck, so it is the set that is reported: all but those that are
 * slower than the leader by more than the floor, with a one-sided p that
 * survives Bonferroni's correction over the comparisons.  The truly fastest
 * is left out with probability of at most alpha, whichever the leader is
 * (multiple comparisons with the best; Hsu, 1981).
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_TIE_H
#define FA_COORDINATOR_TIE_H

#include <stdbool.h>
#include <stddef.h>

struct blocks;
struct verdict_rules;

#define TIE_NONE ((size_t)-1)

/* eligible  [contestants], false for the baseline and whatever may not win
 * tied      [contestants], true for the leader and all that tie with it
 * Returns the leader, or TIE_NONE if no eligible one was measured. */
size_t tie_set(const struct blocks *blocks, const bool *eligible,
               const struct verdict_rules *rules, bool *tied);

/* Of those that tie, which one to take: the lowest first key, among equals
 * the lowest second one, and so on; at last the lowest index.  So the answer
 * does not depend on noise inside the set.
 *
 * keys  [n][n_keys], smaller is better, as registers, spilled bytes, shared
 *       memory, point number
 * Returns TIE_NONE if none is tied. */
size_t tie_break(const bool *tied, size_t n, const double *keys, size_t n_keys);

#endif
