/* report_outcome.h - the outcome of a configuration from its row */
#ifndef FA_COORDINATOR_RESULT_REPORT_OUTCOME_H
#define FA_COORDINATOR_RESULT_REPORT_OUTCOME_H

#include <stdbool.h>

#include "common/outcome.h"

/* The outcome for a word; pending if there is no row. */
enum outcome report_outcome_of(const char *name);

/* The samples vary more than the noise limit, or the GPU was throttled: from
 * how they were taken. */
bool report_outcome_is_unstable(const char *sampling);

#endif
