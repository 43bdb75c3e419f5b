/* apart.hh - warps of a block as if they ran at the same time
 *
 * From one barrier of the block to the next, half of its warps run, and then
 * the other half over the memory as it was before; then what both have changed
 * is put together.  So none finds what a warp of the other half does, and of
 * two plain updates of one place, one is lost.  What atomic operations have
 * changed, the other half finds.
 *
 * The memory is what the block declares with __shared__, and arrays that are
 * small. What else a warp reads is as without this, which is an order that may
 * be.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_APART_HH
#define FA_WORKER_RUNNER_EMULATOR_APART_HH

#include <stdint.h>

namespace emulator
{

/* Before a launch: false if there is no such memory. */
bool apart_start();

/* A half begins; the other one begins; both are done. */
void apart_first();
void apart_second();
void apart_join();

/* An atomic operation there. */
void apart_met(const void *address, uint32_t bytes);

} // namespace emulator

#endif
