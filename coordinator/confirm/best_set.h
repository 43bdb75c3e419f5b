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
#include <stdint.h>

struct block_time;
struct blocks;
struct verdict_rules;

#define BEST_SET_NONE ((size_t)-1)

/* eligible  [candidates], false for the baseline and whatever may not win
 * tied      [candidates], true for the leader and all that tie with it
 * Returns the leader, or BEST_SET_NONE if no eligible one was measured. */
size_t best_set_of(const struct blocks *blocks, const bool *eligible,
                   const struct verdict_rules *rules, bool *tied);
/* The same if the times (blocks_times()) are there; [candidates]. */
size_t best_set_by(const struct blocks *blocks, const struct block_time *times,
                   const bool *eligible, const struct verdict_rules *rules,
                   bool *tied);

struct best_set_choice {
    bool eligible;    /* it ties, and may be named */
    double seconds;   /* its time */
    const char *code; /* its machine code, as a hash; "": not known */
    int64_t number;
};

/* The one to name of those that tie: the fastest.  To prefer another one for a
 * figure such as its registers would cost time that was measured.  Candidates
 * with the machine code of the fastest are the same kernel, and only noise
 * orders them: of these, the one with the lowest number is named.
 * Returns BEST_SET_NONE if none is eligible. */
size_t best_set_choose(const struct best_set_choice *choices, size_t n);

#endif
