/* occupancy.h - how many blocks of a kernel an SM holds at once
 *
 * From what a block uses and the limits of the architecture, as the hardware
 * hands them out: registers by the warp in units of 256 from each of the four
 * parts of an SM, shared memory in units of 128 bytes with 1,024 more a block
 * for the system (CUDA C++ Programming Guide, compute capability 8.0 and on).
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SPACE_OCCUPANCY_H
#define FA_COORDINATOR_SPACE_OCCUPANCY_H

#include <stdint.h>

#include "coordinator/spec/gpu_arch.h"

struct occupancy_block {
    int64_t threads;
    int64_t registers;  /* a thread */
    int64_t smem_bytes; /* static and dynamic */
};

struct occupancy {
    int64_t blocks_per_sm; /* 0: it cannot be launched */
    int64_t warps_per_sm;
    double fraction;     /* of the warps an SM can hold */
    const char *limiter; /* registers smem threads blocks; the first that
                          * allows no more */
};

/* No fact may be GPU_ARCH_UNKNOWN, as in the table of architectures. */
struct occupancy occupancy_of(const struct occupancy_block *block,
                              const struct gpu_arch_facts *facts);

#endif
