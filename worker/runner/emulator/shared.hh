/* shared.hh - the block's shared memory, and its accesses
 *
 * For every pair of bytes: who wrote it and when, who has read it since, and whether a cp.async to
 * it is still in flight.  An access that is not ordered after the one before it by a barrier (or,
 * within a warp, by syncwarp) ends the launch, in either order:
 *
 *   read   of what was never written, is in flight, or another wrote unordered
 *   write  over what is in flight, or another wrote or read unordered
 *
 * The destination of a copy is poisoned when the copy is issued, and filled by the wait that covers
 * it, so a missing wait cannot go unnoticed.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_SHARED_HH
#define FA_WORKER_RUNNER_EMULATOR_SHARED_HH

#include <stddef.h>
#include <stdint.h>

#include "kernels/include/fa/emulator.h"
#include "worker/runner/emulator/part.hh"

namespace emulator
{

struct thread;

/* The largest of any architecture: 227 KB, sm_90 and sm_100. */
constexpr size_t SHARED_BYTES_MAX = 232448;

/* Call it before a launch.  Nothing is written yet, and the bank counters are 0. */
void shared_start(size_t bytes);

/* 'address' counts from FA_EMU_SMEM_BASE; 'what' names the access in messages:
 * "read". */
void shared_read(void *out, uint32_t address, uint32_t bytes, thread *self,
                 const char *what, fa_site at);

/* What is known about the launch's bytes. */
part shared_cells();

/* Count the wavefronts of one 8-row phase of ldmatrix. */
void shared_count_banks(const uint32_t rows[8]);

/* Wavefronts an ldmatrix phase since the start, 1.0 (none in conflict) to 8.0;
 * 0 when there was none. */
double shared_bank_conflicts();

} // namespace emulator

#endif
