/* page_data.h - the data of a report's page, as one JSON object
 *
 * docs/report.md describes it.  It stands apart from the page, so that a
 * program can send it again while a sweep runs.
 *
 * Configurations are columns: an array with one value a configuration, the
 * value alone where all have the same, or {numbers, at} where they share few.
 * Words are {words, at}: the texts, and a column of their indices.  For a list
 * of 2 to 36, 'at' is a text of digits, base 36, each with as many indices as
 * fit, the first one lowest.  With many shapes, the times at those beside the
 * headline are of the configurations at "median_places" (page_thin.h).
 * Times of configurations are nanoseconds with five significant digits; all
 * other times are seconds.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_DATA_H
#define FA_COORDINATOR_PAGE_PAGE_DATA_H

#include <stddef.h>
#include <stdio.h>

struct json_out;
struct page_history;
struct report;
struct report_config;
struct report_view;

/* 'history' is of the report of the view. */
void page_data_json(const struct report_view *view,
                    const struct page_history *history, FILE *to);

/* page_configs.c: the object "configs", of the configurations that the report
 * selects, ranked ones first. */
void page_configs_json(const struct report *report,
                       const struct page_history *history,
                       struct json_out *out);
/* The digits of a key that tell all configurations apart; 8 at least. */
size_t page_configs_digits(const struct report *report);

/* page_history_json.c: the object "history". */
void page_history_json(const struct page_history *history,
                       struct json_out *out);

/* A real number with this many significant digits, or null. */
void page_data_real(struct json_out *out, const char *key, double number,
                    int digits);

#endif
