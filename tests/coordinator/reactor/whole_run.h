/* whole_run.h - runs of a sweep from its start to its end, without a world
 *
 * Time goes by in turns of 100 ms, also in one that waits for its COMMIT.
 */
#ifndef FA_TESTS_WHOLE_RUN_H
#define FA_TESTS_WHOLE_RUN_H

#include "tests/coordinator/reactor/reactor_fixture.h"

#define WHOLE_RUN_STEP_NS (100 * NS_PER_MS)

/* Run the sweep of rig_open_bare(), of at most so many seconds, 0: of as many
 * as it takes.  'turn' is called in each turn.  Returns as sweep_run_with(). */
int whole_run(struct rig *rig, void (*turn)(struct rig *), double seconds,
              struct err *err);
/* A turn in which nothing happens. */
void whole_run_step(struct rig *rig);
/* The same.  Host a is there in the first turn, with a slot and a GPU. */
void whole_run_step_with_host(struct rig *rig);

#endif
