/* sources.h - what fa-runner is compiled of, for each device
 *
 * Paths are from the repository's root; the box that builds fa-runner lays
 * them out likewise and compiles with -I of that root:
 *
 *   cuda  nvcc -O2 -arch=sm_XX -I. -o fa-runner UNITS -ldl
 *   cpu   cc -O2 -I. -Ikernels/include -rdynamic -o fa-runner UNITS
 *         -lstdc++ -ldl -lm -lpthread
 *   replay the same, of fewer files
 *
 * UNITS are the rows that are not headers.  CMake reads this table as well
 * (worker/CMakeLists.txt), so a row stands on one line.
 */
#ifndef FA_WORKER_RUNNER_SOURCES_H
#define FA_WORKER_RUNNER_SOURCES_H

#include <stddef.h>
#include <string.h>

enum {
    RUNNER_CUDA = 1,
    RUNNER_CPU = 2,
    RUNNER_REPLAY = 4,
    RUNNER_ALL = 7
};

struct runner_source {
    const char *path;
    unsigned devices;
};

/* clang-format off */
static const struct runner_source runner_sources[] = {
    { "worker/runner/runner.c", RUNNER_ALL },
    { "worker/runner/measure.c", RUNNER_ALL },
    { "worker/runner/measure.h", RUNNER_ALL },
    { "worker/runner/resident.c", RUNNER_ALL },
    { "worker/runner/resident.h", RUNNER_ALL },
    { "worker/runner/sampler.c", RUNNER_ALL },
    { "worker/runner/sampler.h", RUNNER_ALL },
    { "worker/runner/throttle.c", RUNNER_ALL },
    { "worker/runner/throttle.h", RUNNER_ALL },
    { "common/insertion_sort.c", RUNNER_ALL },
    { "common/insertion_sort.h", RUNNER_ALL },
    { "common/sampling.c", RUNNER_ALL },
    { "common/sampling.h", RUNNER_ALL },
    { "worker/runner/wire.h", RUNNER_ALL },
    { "worker/runner/wire_reply.c", RUNNER_ALL },
    { "worker/runner/wire_request.c", RUNNER_ALL },
    { "worker/runner/wire_text.c", RUNNER_ALL },
    { "worker/runner/wire_text.h", RUNNER_ALL },
    { "worker/runner/element.h", RUNNER_ALL },
    { "worker/runner/fill.h", RUNNER_ALL },
    { "worker/runner/check.h", RUNNER_ALL },
    { "worker/runner/device.h", RUNNER_ALL },
    { "worker/runner/device_cuda.c", RUNNER_CUDA },
    { "worker/runner/device_cuda.h", RUNNER_CUDA },
    { "worker/runner/launch_cuda.c", RUNNER_CUDA },
    { "worker/runner/driver_cuda.c", RUNNER_CUDA },
    { "worker/runner/driver_cuda.h", RUNNER_CUDA },
    { "worker/runner/gate_cuda.c", RUNNER_CUDA },
    { "worker/runner/gate_cuda.h", RUNNER_CUDA },
    { "worker/runner/facts_cuda.c", RUNNER_CUDA },
    { "worker/runner/facts_cuda.h", RUNNER_CUDA },
    { "worker/runner/gpu_state.c", RUNNER_CUDA },
    { "worker/runner/gpu_state.h", RUNNER_CUDA },
    { "worker/runner/kernels_cuda.cu", RUNNER_CUDA },
    { "worker/runner/kernels_cuda.h", RUNNER_CUDA },
    { "worker/runner/device_host.c", RUNNER_CPU | RUNNER_REPLAY },
    { "worker/runner/device_host.h", RUNNER_CPU | RUNNER_REPLAY },
    { "worker/runner/device_cpu.c", RUNNER_CPU },
    { "kernels/include/fa/emulator.h", RUNNER_CPU },
    { "worker/runner/emulator/array.cc", RUNNER_CPU },
    { "worker/runner/emulator/array.h", RUNNER_CPU },
    { "worker/runner/emulator/block.cc", RUNNER_CPU },
    { "worker/runner/emulator/block.hh", RUNNER_CPU },
    { "worker/runner/emulator/emulator.cc", RUNNER_CPU },
    { "worker/runner/emulator/emulator.h", RUNNER_CPU },
    { "worker/runner/emulator/fault.cc", RUNNER_CPU },
    { "worker/runner/emulator/fault.hh", RUNNER_CPU },
    { "worker/runner/emulator/fiber.cc", RUNNER_CPU },
    { "worker/runner/emulator/fiber.hh", RUNNER_CPU },
    { "worker/runner/emulator/shared.cc", RUNNER_CPU },
    { "worker/runner/emulator/shared.hh", RUNNER_CPU },
    { "worker/runner/emulator/tensor.cc", RUNNER_CPU },
    { "worker/runner/emulator/tensor.hh", RUNNER_CPU },
    { "worker/runner/emulator/warp.cc", RUNNER_CPU },
    { "worker/runner/device_replay.c", RUNNER_REPLAY },
    { "worker/runner/record.c", RUNNER_REPLAY },
    { "worker/runner/record.h", RUNNER_REPLAY },
    { NULL, 0 },
};
/* clang-format on */

static inline unsigned runner_device(const char *name)
{
    return strcmp(name, "cuda") == 0     ? RUNNER_CUDA
           : strcmp(name, "replay") == 0 ? RUNNER_REPLAY
                                         : RUNNER_CPU;
}

#endif
