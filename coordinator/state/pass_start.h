/* pass_start.h - what a pass does before work begins
 *
 * Part of the table of a pass (pass_ops.h).  NULL functions are skipped.
 */
#ifndef FA_COORDINATOR_STATE_PASS_START_H
#define FA_COORDINATOR_STATE_PASS_START_H

#include <stdint.h>

struct err;
struct pass;
struct past_runs;
struct sweep;

/* In this order. */
struct pass_start {
    /* 'passed' points pass the gates.  Returns 1 if it made the plan itself, 0
     * to take all of them. */
    int (*choose)(struct sweep *sweep, struct pass *pass, int64_t passed,
                  struct err *err);
    /* There is a plan and a schedule.  Returns 1 if this pass leads. */
    int (*lead)(struct sweep *sweep, struct pass *pass, struct err *err);
    /* Read what earlier runs asked for and learnt. */
    int (*recall)(struct sweep *sweep, struct pass *pass,
                  struct past_runs *past, struct err *err);
    /* The results of earlier runs are settled by now. */
    int (*begin)(struct sweep *sweep, struct pass *pass, struct err *err);
};

#endif
