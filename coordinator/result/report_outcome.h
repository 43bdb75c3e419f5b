/* report_outcome.h - the outcome of a configuration from its row */
#ifndef FA_COORDINATOR_RESULT_REPORT_OUTCOME_H
#define FA_COORDINATOR_RESULT_REPORT_OUTCOME_H

#include "common/outcome.h"

/* The outcome for a word; pending if there is no row. */
enum outcome report_outcome_of(const char *name);

#endif
