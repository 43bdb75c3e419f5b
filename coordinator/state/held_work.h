/* held_work.h - what is not settled in a sweep, and what holds each of it (I7)
 *
 * At any moment a piece of work that is not settled is queued, leased with a
 * deadline, or held by a pass that says what it waits for and until when.
 * Otherwise it would wait for ever.  That is a bug, which a sweep shows only
 * when everything else has ended.
 *
 * Reads the state and changes nothing.  Call it between two turns of the loop
 * of a sweep that has a plan and is not ending.
 */
#ifndef FA_COORDINATOR_STATE_HELD_WORK_H
#define FA_COORDINATOR_STATE_HELD_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/schedule/sched_pieces.h"
#include "coordinator/state/pass_wait.h"

struct sweep;

struct held_work {
    struct sched_piece piece; /* of the schedule, when 'pass' is NULL */
    const char *pass;         /* else the name of a pass, and: */
    struct pass_wait wait;
    bool is_held;
    int64_t until_ns; /* by then at the latest; 0: another piece ends first */
};

/* 'work' lives for the call. */
typedef void held_work_fn(void *arg, const struct held_work *work);

/* Tell every piece; returns how many would wait for ever. */
int held_work_list(const struct sweep *sweep, held_work_fn *fn, void *arg);

/* "measure, unit 3, shape 0, order 7: in a queue": a line for people. */
void held_work_text(const struct held_work *work, char *text, size_t size);

#endif
