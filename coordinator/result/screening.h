/* screening.h - selects the finalists of a sweep
 *
 * These are all configurations that could still be the best by the sweep's
 * objective or at one of its shapes (finalists.h), up to a cap, for which the
 * objective comes first.  Times are normalised by the
 * canaries of each GPU.
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

/* out_of_it  [report->n_configs]: excluded, whatever their times
 * chosen     [report->n_configs]: is set; never true for the baseline */
void screening_choose(const struct report *report,
                      const struct screening_rules *rules,
                      const bool *out_of_it, bool *chosen,
                      struct finalists *out);

/* The 'most' fastest ones of a report that have all tunables of the spec.
 * Returns their number. */
size_t screening_best(struct config_selection *selection,
                      const struct spec *spec, const struct report *report,
                      size_t most);

#endif
