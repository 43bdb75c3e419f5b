/* lessons_print.h - print lessons, for people and for programs
 *
 * docs/report.md describes both.
 */
#ifndef FA_COORDINATOR_LESSONS_LESSONS_PRINT_H
#define FA_COORDINATOR_LESSONS_LESSONS_PRINT_H

#include <stdio.h>

struct json_out;
struct lessons;

void lessons_table(const struct lessons *lessons, FILE *to);
/* Write an object under 'key'. */
void lessons_json(const struct lessons *lessons, struct json_out *out,
                  const char *key);

#endif
