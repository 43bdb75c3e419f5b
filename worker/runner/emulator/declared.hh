/* declared.hh - the shared memory that a kernel declares with __shared__
 *
 * Plain C++ reads and writes it, so its accesses are not checked one by one.
 * Instead it is filled with 0xff, which is a NaN in every float type, before
 * each block, and the dynamic part ends in bytes that are looked at after each
 * block, up to pages that cannot be accessed.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_DECLARED_HH
#define FA_WORKER_RUNNER_EMULATOR_DECLARED_HH

#include <stddef.h>

#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/emulator.h"
#include "worker/runner/emulator/part.hh"

namespace emulator
{

/* nvcc refuses a kernel that declares more than this with a size. */
constexpr size_t STATIC_BYTES_MAX = 49152;

/* Call it before a launch with 'smem' bytes of dynamic shared memory. */
void declared_start(const emulator_shared *shared, size_t smem,
                    unsigned char unwritten);
/* True if the dynamic part is declared: what is in it is not known. */
bool declared_dynamic();

/* Call them around each block.  False if the block wrote after the end of the
 * dynamic part; the first such byte is number *byte_after, from 1. */
void declared_begin_block();
bool declared_end_block(size_t *byte_after);

/* What the variables with a size have, and what is used of the dynamic part. */
part declared_statics();
part declared_dynamic_used();

/* Is that in the shared memory of a block? */
bool declared_has(const void *address);

/* As array_find(), for the dynamic part. */
array_place declared_find(const void *address);

} // namespace emulator

#endif
