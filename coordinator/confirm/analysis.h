/* analysis.h - the full result of a confirmation pass
 *
 * One call combines blocks.h, speedup.h, mann_whitney.h, verdict.h and
 * best_set.h.  docs/statistics.md explains what each is for.
 *
 * The finalists are one family: with a probability of at least 1 - alpha,
 * everything that is claimed of them is true, whichever one is then selected.
 * The intervals of their speedups hold together by Bonferroni's inequality
 * (Dunn, 1961).  FAST and SLOW use Holm (1979) over the finalists, with half
 * of alpha on each side, and test "not beyond the floor" instead of "equal".
 * Nothing is resampled, so the findings depend on the measurements alone.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_ANALYSIS_H
#define FA_COORDINATOR_CONFIRM_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"
#include "coordinator/stats/mann_whitney.h"

struct finding {
    struct block_time time;   /* in the typical block */
    struct speedup speedup;   /* over the baseline; the intervals of all
                               * finalists hold together */
    double p_holm;            /* that it is within the floor, or on the other
                               * side; corrected over the finalists */
    struct mann_whitney rank; /* of the block medians, for comparison; its p is
                               * not corrected, and NAN without medians */
    enum verdict verdict;
    bool success; /* it is shown to reach the target */
    bool tied;    /* with the leader; never the baseline */
};

/* The confidence of one of 'n' intervals that hold together with a probability
 * of 1 - alpha. */
double analysis_confidence(size_t n, double alpha);

/* baseline  its index; its own result is a speedup of 1, SAME
 * out       [blocks_contestants()]
 * Returns the leader, or BEST_SET_NONE if no finalist was measured. */
size_t analysis_findings(const struct blocks *blocks, size_t baseline,
                         const struct verdict_rules *rules,
                         struct finding *out);

/* What the looks of a pass left (sequential.h). */
struct analysis_look {
    const double *levels; /* [blocks_contestants()] two-sided, of the intervals
                           * of the speedups; 0: no look yet */
    const bool *tied;     /* [blocks_contestants()] */
};

/* The same after looks: intervals, p and ties hold for all of them together. */
size_t analysis_findings_at(const struct blocks *blocks, size_t baseline,
                            const struct verdict_rules *rules,
                            const struct analysis_look *look,
                            struct finding *out);

#endif
