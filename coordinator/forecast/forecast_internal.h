/* forecast_internal.h - hosts as machines; for forecast*.c */
#ifndef FA_COORDINATOR_FORECAST_FORECAST_INTERNAL_H
#define FA_COORDINATOR_FORECAST_FORECAST_INTERNAL_H

#include "coordinator/forecast/forecast.h"

/* Fill in 'machines' and 'counts'; 'pace' is known. */
void forecast_hosts(const struct run *run, int64_t builds, int64_t measurements,
                    struct forecast *out);

#endif
