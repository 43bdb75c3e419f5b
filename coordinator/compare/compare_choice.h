/* compare_choice.h - among how many configurations a winner was chosen
 *
 * The more there were, the luckier the fastest one is (compare_interval.h).
 *
 * Pure but for allocation; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_CHOICE_H
#define FA_COORDINATOR_COMPARE_COMPARE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct compare_side;

/* blocks  the evidence: of confirmation blocks, these are the finalists; of
 *         screening samples, those that could be the best by them (screening.h)
 * At least 1. */
size_t compare_choice_among(const struct compare_side *side, bool blocks);

#endif
