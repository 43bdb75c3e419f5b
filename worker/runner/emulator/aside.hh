/* aside.hh - blocks that have begun and wait for others
 *
 * A block whose threads only wait, for what another block does, is set aside:
 * what it has on its stacks, in shared memory and in the emulator is copied
 * away.  So another one runs in the same place, and later the first goes on
 * where it was.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_ASIDE_HH
#define FA_WORKER_RUNNER_EMULATOR_ASIDE_HH

#include <stddef.h>

namespace emulator
{

/* Set the running block aside, after the others or before them. */
void aside_put(bool last);

/* Make the last one the running block; false if there is none. */
bool aside_take();

/* May one more begin, which may have to be set aside as well? */
bool aside_has_room();

size_t aside_count();

/* Forget them all. */
void aside_clear();

} // namespace emulator

#endif
