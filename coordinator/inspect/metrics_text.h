/* metrics_text.h - the state of a sweep in Prometheus' text format
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/, with names as
 * https://prometheus.io/docs/practices/naming/ asks for: base units, and
 * "_total" at the end of counters.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_INSPECT_METRICS_TEXT_H
#define FA_COORDINATOR_INSPECT_METRICS_TEXT_H

struct buf;
struct report;
struct report_cost;
struct status;

#define METRICS_TEXT_BEGIN "# HELP fa_coord_" /* of each text */
#define METRICS_TEXT_MAX (1 << 20)            /* bytes */

/* All of one database.  What is not known (no time yet, no price) has no
 * line. */
void metrics_text_put(const struct report *report,
                      const struct report_cost *cost,
                      const struct status *status, struct buf *out);

#endif
