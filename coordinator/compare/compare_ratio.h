/* compare_ratio.h - the ratio of the two times of a row, and its interval
 *
 * Fills in evidence, counts, medians and speedup; compare.h describes them.
 * Pure but for allocation; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_RATIO_H
#define FA_COORDINATOR_COMPARE_COMPARE_RATIO_H

#include <stdbool.h>

struct compare;
struct compare_row;

/* alpha  of this row's interval: its confidence is 1 - alpha
 * A winner was chosen because it measured fast; the interval of its rows allows
 * for that (compare_interval.h). */

/* false, and nothing filled in, if a side has too few blocks */
bool compare_by_blocks(const struct compare *compare, double alpha,
                       struct compare_row *row);
/* for a row for which both sides have samples */
void compare_by_samples(const struct compare *compare, double alpha,
                        struct compare_row *row);

#endif
