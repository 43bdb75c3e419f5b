/* sim_held.h - I7 while a sweep runs: is every piece of work held by something?
 *
 * A pass that orders nothing, and looks on from its place in the loop, at the
 * end of a turn (coordinator/state/held_work.h).
 */
#ifndef FA_TESTS_SIMULATION_SIM_HELD_H
#define FA_TESTS_SIMULATION_SIM_HELD_H

#include <stddef.h>
#include <stdint.h>

struct pass_ops;

/* The first piece of a life that nothing held. */
struct sim_held {
    int64_t turns;
    size_t pending; /* rows at the last look */
    int64_t at_ns;  /* 0: all was held */
    char text[160];
};

/* The passes of a sweep, and this one; ends with NULL. */
const struct pass_ops *const *sim_held_passes(void);

#endif
