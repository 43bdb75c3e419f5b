/* report_sections.h - the parts of a report, each under its name
 *
 * 'fa-coord report --show NAME,NAME' prints those that are named.
 */
#ifndef FA_COORDINATOR_REPORT_REPORT_SECTIONS_H
#define FA_COORDINATOR_REPORT_REPORT_SECTIONS_H

#include <stdint.h>
#include <stdio.h>

struct err;
struct report_view;

/* A set of sections: bit i is the i-th in their order. */
typedef uint32_t report_sections_set;

#define REPORT_SECTIONS_ALL UINT32_MAX

/* Read "ranking,lessons" or "all".  ERR_INPUT for an unknown name. */
int report_sections_parse(const char *names, report_sections_set *out,
                          struct err *err);

/* The section of this name, which must exist. */
report_sections_set report_sections_of(const char *name);

/* Those that have something to show. */
report_sections_set report_sections_present(const struct report_view *view);

/* "ranking, failures, lessons"; the caller frees it. */
char *report_sections_names(report_sections_set set);

void report_sections_print(const struct report_view *view,
                           report_sections_set set, FILE *to);

#endif
