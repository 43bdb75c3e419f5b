#include "coordinator/result/report_config.h"

#include <string.h>

#include "common/outcome.h"

enum outcome report_config_outcome(const char *name)
{
    enum outcome outcome;

    return outcome_read(name, &outcome) && outcome < OUTCOME_PENDING
               ? outcome
               : OUTCOME_PENDING;
}

bool report_config_is_unstable(const char *sampling)
{
    return strcmp(sampling, "unstable") == 0;
}
