/* report_objective.h - what a sweep minimised, at the shapes of its report
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_OBJECTIVE_H
#define FA_COORDINATOR_RESULT_REPORT_OBJECTIVE_H

struct report;
struct report_config;

/* The index of a shape, or OBJECTIVE_ALL (objective.h) for the geometric mean
 * of all.  The headline where the device has no shape of that name. */
int report_objective(const struct report *report);
/* The name of that shape, or OBJECTIVE_GEOMEAN. */
const char *report_objective_name(const struct report *report, int objective);
/* Normalised, in seconds; the configuration is correct at all shapes. */
double report_objective_time(const struct report *report,
                             const struct report_config *config, int objective);

#endif
