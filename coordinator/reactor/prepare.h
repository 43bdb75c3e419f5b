/* prepare.h - the plan, once the device facts are known
 */
#ifndef FA_COORDINATOR_REACTOR_PREPARE_H
#define FA_COORDINATOR_REACTOR_PREPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sweep;

int prepare_begin(struct sweep *sweep, struct err *err);
int prepare_plan(struct sweep *sweep, struct err *err);

#endif
