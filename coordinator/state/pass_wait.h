/* pass_wait.h - what a pass waits for, and until when
 *
 * Everything that a pass holds back has an end: when an order or a unit of the
 * schedule ends, at a time, or when the hosts that could do it come or are
 * given up (host_supply.h).  held_work.h checks this.
 */
#ifndef FA_COORDINATOR_STATE_PASS_WAIT_H
#define FA_COORDINATOR_STATE_PASS_WAIT_H

#include <stdint.h>

enum pass_wait_end {
    PASS_WAIT_NOTHING, /* nothing ends it: a fault of the pass */
    PASS_WAIT_ORDER,   /* when 'order' is over */
    PASS_WAIT_UNIT,    /* when all of 'unit' is settled */
    PASS_WAIT_TIME,    /* at 'until_ns' at the latest */
    PASS_WAIT_HOST,    /* when a host can take it, or none is left */
};

struct pass_wait {
    const char *what; /* for people; a constant */
    enum pass_wait_end end;
    int64_t order;
    int unit;
    int64_t until_ns; /* CLOCK_BOOTTIME */
};

typedef void pass_wait_fn(void *arg, const struct pass_wait *wait);

#endif
