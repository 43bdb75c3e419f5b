/* sim_held.h - I7 during a sweep: something holds every piece of work
 *
 * This is a pass that orders nothing.  It checks at the end of each turn of the
 * loop (coordinator/state/held_work.h).
 */
#ifndef FA_TESTS_SIMULATION_SIM_HELD_H
#define FA_TESTS_SIMULATION_SIM_HELD_H

#include <stddef.h>
#include <stdint.h>

struct pass_ops;

/* The first piece of work in a life that nothing held. */
struct sim_held {
    int64_t turns;
    size_t pending; /* rows at the last check */
    int64_t at_ns;  /* 0: everything was held */
    char text[160];
};

/* The passes of a sweep and this one; the list ends with NULL. */
const struct pass_ops *const *sim_held_passes(void);

#endif
