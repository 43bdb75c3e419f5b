/* compare_print.h - a comparison for people and for programs
 *
 * docs/compare.md describes the JSON.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_PRINT_H
#define FA_COORDINATOR_COMPARE_COMPARE_PRINT_H

#include <stddef.h>
#include <stdio.h>

struct compare;

/* at most 'top' rows of configurations, 0 for all */
void compare_table(const struct compare *compare, size_t top, FILE *to);
void compare_json(const struct compare *compare, FILE *to);

#endif
