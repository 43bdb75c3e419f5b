/* part.hh - a part of the memory that a block uses */
#ifndef FA_WORKER_RUNNER_EMULATOR_PART_HH
#define FA_WORKER_RUNNER_EMULATOR_PART_HH

#include <stddef.h>

namespace emulator
{

struct part {
    void *at;
    size_t bytes;
};

} // namespace emulator

#endif
