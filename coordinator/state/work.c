#include "coordinator/state/work.h"

#include <string.h>

#define KERNEL "kernel"
#define REFERENCE "reference"

const char *work_build_purpose(const struct work *work, int unit)
{
    return unit == plan_units(work->plan) ? REFERENCE : KERNEL;
}

bool work_is_build_purpose(const char *word)
{
    return strcmp(word, KERNEL) == 0 || strcmp(word, REFERENCE) == 0;
}

int work_find_unit(const struct work *work, const char *config,
                   const char *purpose)
{
    int reference = plan_units(work->plan);

    if (strcmp(purpose, REFERENCE) != 0)
        return plan_find(work->plan, config);
    return strcmp(plan_unit(work->plan, reference)->source_key, config) == 0
               ? reference
               : -1;
}
