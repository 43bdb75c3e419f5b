/* occupancy.h - how many blocks of a kernel an SM holds at once
 *
 * It is computed from the resources of a block and the limits of the
 * architecture.  The hardware allocates registers by the warp, in units of 256,
 * from each of the four parts of an SM. It allocates shared memory in units of
 * 128 bytes, plus 1,024 bytes a block for the system (CUDA C++ Programming
 * Guide, compute capability 8.0 and on).
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SPACE_OCCUPANCY_H
#define FA_COORDINATOR_SPACE_OCCUPANCY_H

#include <stdint.h>

#include "coordinator/spec/gpu_arch.h"

struct occupancy_block {
    int64_t threads;
    int64_t registers;  /* per thread */
    int64_t smem_bytes; /* static and dynamic */
};

struct occupancy {
    int64_t blocks_per_sm; /* 0: it cannot be launched */
    int64_t warps_per_sm;
    double fraction;     /* of the warps an SM can hold */
    const char *limiter; /* registers smem threads blocks: the first one that
                          * limits */
};

/* No fact may be GPU_ARCH_UNKNOWN; the table of architectures has them all. */
struct occupancy occupancy_of(const struct occupancy_block *block,
                              const struct gpu_arch_facts *facts);

#endif
