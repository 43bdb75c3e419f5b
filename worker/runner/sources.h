/* sources.h - what fa-runner is compiled of, for each device
 *
 * Paths are from the repository's root; the box that builds fa-runner lays
 * them out likewise and compiles with -I of that root:
 *
 *   cuda  nvcc -O2 -arch=sm_XX -I. -o fa-runner UNITS -ldl
 *   cpu   cc -O2 -I. -Ikernels/include -rdynamic -o fa-runner UNITS
 *         -lstdc++ -ldl -lm -lpthread
 *
 * UNITS are the rows that are not headers.  CMake reads this table as well
 * (worker/CMakeLists.txt), so a row stands on one line.
 */
#ifndef FA_WORKER_RUNNER_SOURCES_H
#define FA_WORKER_RUNNER_SOURCES_H

#include <stddef.h>

enum {
    RUNNER_CUDA = 1,
    RUNNER_CPU = 2,
    RUNNER_BOTH = 3
};

struct runner_source {
    const char *path;
    unsigned devices;
};

/* clang-format off */
static const struct runner_source runner_sources[] = {
    { "worker/runner/runner.c", RUNNER_BOTH },
    { "worker/runner/measure.c", RUNNER_BOTH },
    { "worker/runner/measure.h", RUNNER_BOTH },
    { "worker/runner/resident.c", RUNNER_BOTH },
    { "worker/runner/resident.h", RUNNER_BOTH },
    { "worker/runner/sampler.c", RUNNER_BOTH },
    { "worker/runner/sampler.h", RUNNER_BOTH },
    { "worker/runner/throttle.c", RUNNER_BOTH },
    { "worker/runner/throttle.h", RUNNER_BOTH },
    { "common/sampling.c", RUNNER_BOTH },
    { "common/sampling.h", RUNNER_BOTH },
    { "worker/runner/wire.h", RUNNER_BOTH },
    { "worker/runner/wire_reply.c", RUNNER_BOTH },
    { "worker/runner/wire_request.c", RUNNER_BOTH },
    { "worker/runner/wire_text.c", RUNNER_BOTH },
    { "worker/runner/wire_text.h", RUNNER_BOTH },
    { "worker/runner/element.h", RUNNER_BOTH },
    { "worker/runner/fill.h", RUNNER_BOTH },
    { "worker/runner/check.h", RUNNER_BOTH },
    { "worker/runner/device.h", RUNNER_BOTH },
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
    { NULL, 0 },
};
/* clang-format on */

#endif
