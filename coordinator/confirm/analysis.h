/* analysis.h - the full result of a confirmation pass
 *
 * One call combines blocks.h, speedup.h, mann_whitney.h, verdict.h and
 * best_set.h.  docs/statistics.md explains what each is for.
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
    struct speedup speedup;   /* over the baseline */
    double p_holm;            /* p of the speedup, corrected over the
                               * finalists */
    struct mann_whitney rank; /* of the block medians, for comparison; its p is
                               * not corrected, and NAN without medians */
    enum verdict verdict;
    bool success; /* it reached the target */
    bool tied;    /* with the leader; never the baseline */
};

/* baseline  its index; its own result is a speedup of 1, SAME
 * out       [blocks_contestants()]
 * Returns the leader, or BEST_SET_NONE if no finalist was measured. */
size_t analysis_findings(const struct blocks *blocks, size_t baseline,
                         const struct verdict_rules *rules,
                         struct finding *out);

#endif
