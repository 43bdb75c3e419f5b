/* lessons_print.h - print lessons, for people and for programs
 *
 * docs/report.md describes both.
 */
#ifndef FA_COORDINATOR_LESSONS_LESSONS_PRINT_H
#define FA_COORDINATOR_LESSONS_LESSONS_PRINT_H

#include <stdio.h>

struct buf;
struct failure_pattern_term;
struct json_out;
struct lessons;

/* Add values that failures share, as " BLOCK=64|128 ITEMS=2". */
void lessons_put_terms(const struct lessons *lessons,
                       const struct failure_pattern_term *terms, size_t n,
                       struct buf *to);
void lessons_table(const struct lessons *lessons, FILE *to);
/* Write an object under 'key'. */
void lessons_json(const struct lessons *lessons, struct json_out *out,
                  const char *key);

#endif
