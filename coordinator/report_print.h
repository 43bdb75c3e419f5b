/* report_print.h - the renderings of a report: for people, JSON, CSV
 *
 * docs/report.md describes the JSON and the CSV.  Texts of the database were
 * cleaned when it was read.
 */
#ifndef FA_COORDINATOR_REPORT_PRINT_H
#define FA_COORDINATOR_REPORT_PRINT_H

#include <stdio.h>

struct conclusion;
struct cost;
struct report;

struct report_view {
    const struct report *report;
    const struct cost *cost;
    const struct conclusion *conclusion;
    size_t top; /* rows of the ranking; 0 for all */
};

void report_table(const struct report_view *view, FILE *to);
void report_csv(const struct report_view *view, FILE *to); /* all rows */
void report_json(const struct report_view *view, FILE *to);
void report_cost_table(const struct report_view *view, FILE *to);

#endif
