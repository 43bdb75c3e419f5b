/* prepare.h - the plan, once the device facts are known
 */
#ifndef FA_COORDINATOR_REACTOR_PREPARE_H
#define FA_COORDINATOR_REACTOR_PREPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sweep;

/* Make the plan if that needs no host: always on the cpu device; else, if
 * 'recalled', with the facts of the GPU that an earlier run stored.  Such a
 * plan is good for one question: is anything left to do?  The GPU of this run
 * may be another one. */
int prepare_begin(struct sweep *sweep, bool recalled, struct err *err);
int prepare_plan(struct sweep *sweep, struct err *err);

#endif
