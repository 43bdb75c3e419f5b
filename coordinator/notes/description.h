/* description.h - the rows that describe a sweep, stored before it begins
 */
#ifndef FA_COORDINATOR_NOTES_DESCRIPTION_H
#define FA_COORDINATOR_NOTES_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct space_gate_count;
struct sweep;

int description_put_request(struct sweep *sweep, struct err *err);
int description_put(struct sweep *sweep, const struct space_gate_count *counts,
                    int64_t passed, struct err *err);
/* Its facts are others than was believed. */
int description_put_facts(struct sweep *sweep, struct err *err);
/* The units of the plan from number 'from' on. */
int description_put_configs(struct sweep *sweep, int from, struct err *err);

#endif
