/* report_gpus.h - the GPUs of a sweep, and times as the typical one would have
 * measured them
 *
 * Part of a report, made by report_load(): each GPU's canaries give a line
 * (calibration.h), and every time is divided by it.
 */
#ifndef FA_COORDINATOR_REPORT_GPUS_H
#define FA_COORDINATOR_REPORT_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/agreement.h"
#include "coordinator/calibration.h"

struct err;
struct report;
struct store;

struct report_gpu {
    char *uuid, *name, *host;
    int64_t measured, repeated;    /* what was screened, and screened again */
    struct calibration_gpu canary; /* n_canaries 0: there is none */
    struct agreement agreement;    /* n_shared 0: no configuration shared */
    char *quarantined;             /* when and why; NULL: it was not */
};

/* Fill in report->gpus, and the times of its cells.  ERR_STORE */
int report_gpus_load(struct store *store, struct report *report,
                     struct err *err);
void report_gpus_free(struct report *report);

#endif
