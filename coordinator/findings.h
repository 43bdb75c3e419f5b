/* findings.h - everything a confirmation pass says about its contestants
 *
 * The one call that puts blocks.h, speedup.h, rank_test.h, verdict.h and
 * tie.h together; docs/statistics.md tells why each is there.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_FINDINGS_H
#define FA_COORDINATOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/blocks.h"
#include "coordinator/rank_test.h"
#include "coordinator/speedup.h"
#include "coordinator/verdict.h"

struct finding {
    struct block_time time; /* in the typical block */
    struct speedup speedup; /* over the baseline */
    double p_holm;          /* speedup.p, corrected over the finalists */
    struct rank_test rank;  /* of the block medians, for comparison; its p is
                               not corrected.  p is NAN without medians */
    enum verdict verdict;
    bool success; /* reached the target */
    bool tied;    /* with the leader; never the baseline */
};

/* baseline  its index; its own finding is a speedup of 1, SAME
 * out       [blocks_contestants()]
 * Returns the leader, or TIE_NONE if no finalist was measured. */
size_t findings(const struct blocks *blocks, size_t baseline,
                const struct verdict_rules *rules, struct finding *out);

#endif
