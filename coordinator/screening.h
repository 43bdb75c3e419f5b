/* screening.h - which configurations go on from the sweep to its confirmation
 *
 * From the samples of the headline shape, brought to one level by the
 * canaries of each GPU: all that could still be the best (finalists.h), as
 * far as a cap allows.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SCREENING_H
#define FA_COORDINATOR_SCREENING_H

#include <stddef.h>
#include <stdbool.h>

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
