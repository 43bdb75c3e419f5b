/* screening.h - which configurations go on from the sweep to its confirmation
 *
 * All that could still be the best at one of the sweep's shapes (finalists.h),
 * by times that the canaries of each GPU brought to one level, as far as a cap
 * allows.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SCREENING_H
#define FA_COORDINATOR_SCREENING_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/finalists.h"

struct report;

struct screening_rules {
    double alpha;
    size_t cap;
};

/* out_of_it  [report->n_configs]: not in the running, whatever their times
 * chosen     [report->n_configs]: set; never the baseline */
void screening_choose(const struct report *report,
                      const struct screening_rules *rules,
                      const bool *out_of_it, bool *chosen,
                      struct finalists *out);

#endif
