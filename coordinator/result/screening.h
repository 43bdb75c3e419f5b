/* screening.h - which configurations go on from the sweep to its confirmation
 *
 * All that could still be the best at one of the sweep's shapes (finalists.h),
 * by times that the canaries of each GPU brought to one level, as far as a cap
 * allows.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_RESULT_SCREENING_H
#define FA_COORDINATOR_RESULT_SCREENING_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/confirm/finalists.h"

struct config_selection;
struct report;
struct spec;

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

/* The 'most' fastest of a report that have all tunables of the spec; how many
 * there were. */
size_t screening_best(struct config_selection *selection,
                      const struct spec *spec, const struct report *report,
                      size_t most);

#endif
