/* report_outcome.h - how a configuration came out, read from its row */
#ifndef FA_COORDINATOR_RESULT_REPORT_OUTCOME_H
#define FA_COORDINATOR_RESULT_REPORT_OUTCOME_H

#include "common/outcome.h"

/* One of a configuration, by its word; pending without a row. */
enum outcome report_outcome_of(const char *name);

#endif
