/* report_gpus.h - the GPUs of a sweep, and normalised times
 *
 * Part of a report, made by report_load(). Each GPU's canaries give a line
 * (canary_calibration.h), and every time on that GPU is divided by it.  The
 * caller adds every result.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_GPUS_H
#define FA_COORDINATOR_RESULT_REPORT_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/stats/canary_calibration.h"
#include "coordinator/stats/gpu_agreement.h"

struct err;
struct report;
struct report_gpus;
struct report_rows;

struct report_gpu {
    char *uuid, *name, *host;
    int64_t measured, repeated; /* screening measurements; repeated ones */
    struct canary_calibration_gpu canary; /* n_canaries 0: no canary */
    struct gpu_agreement agreement; /* n_shared 0: shares no configuration */
    char *quarantined;              /* when and why; NULL: it was not
                                     * quarantined */
};

/* A result. */
struct report_measured {
    const char *gpu, *purpose;
    bool counted;
    int64_t round, received_utc;
    int64_t config; /* index in the report; -1 unless the result is correct,
                     * current, and for the headline shape */
    bool baseline;  /* that configuration is one */
    double seconds; /* median, if 'config' >= 0 */
};

/* Set up report->gpus; then add the results.  ERR_STORE */
int report_gpus_open(struct report_rows *rows, struct report_gpus **out,
                     struct err *err);
void report_gpus_take(struct report_gpus *gpus,
                      const struct report_measured *measured);
/* After the last canary and the last result of a confirmation: what the
 * canaries say of the GPUs. */
void report_gpus_calibrate(struct report_gpus *gpus);
/* After the last result: whether the GPUs agree. */
void report_gpus_agree(struct report_gpus *gpus);
/* After calibration: a time as the typical GPU would have measured it, NaN
 * without a canary; and all times of a report's cells. */
double report_gpus_normalise(const struct report_gpus *gpus, const char *gpu,
                             int64_t received_utc, double seconds);
void report_gpus_cells(const struct report_gpus *gpus, struct report *report);
void report_gpus_close(struct report_gpus *gpus); /* NULL is fine */

void report_gpus_free(struct report *report);

#endif
