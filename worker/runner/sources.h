/* sources.h - the source files of fa-runner, for each device
 *
 * Paths are from the repository's root; the host that builds fa-runner has the
 * same layout and compiles with -I of that root:
 *
 *   cuda  nvcc -O2 -arch=sm_XX -I. -o fa-runner UNITS -ldl
 *   cpu   cc -O2 -I. -Ikernels/include -rdynamic -o fa-runner UNITS
 *         -lstdc++ -ldl -lm -lpthread; replay: the same, of fewer files
 *
 * UNITS are the rows that are not headers.  CMake reads this table: a row a
 * line.
 */
#ifndef FA_WORKER_RUNNER_SOURCES_H
#define FA_WORKER_RUNNER_SOURCES_H

#include <stddef.h>

#include "common/device_kind.h"

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
    { "worker/runner/turns.c", RUNNER_ALL },
    { "worker/runner/turns.h", RUNNER_ALL },
    { "worker/runner/device/throttle.c", RUNNER_ALL },
    { "worker/runner/device/throttle.h", RUNNER_ALL },
    { "common/device_kind.c", RUNNER_ALL },
    { "common/device_kind.h", RUNNER_ALL },
    { "common/insertion_sort.c", RUNNER_ALL },
    { "common/insertion_sort.h", RUNNER_ALL },
    { "common/l2_mode.c", RUNNER_ALL },
    { "common/l2_mode.h", RUNNER_ALL },
    { "common/outcome.c", RUNNER_ALL },
    { "common/outcome.h", RUNNER_ALL },
    { "common/sampling.c", RUNNER_ALL },
    { "common/sampling.h", RUNNER_ALL },
    { "worker/runner/wire/wire.h", RUNNER_ALL },
    { "worker/runner/wire/wire_reply.c", RUNNER_ALL },
    { "worker/runner/wire/wire_reply.h", RUNNER_ALL },
    { "worker/runner/wire/wire_request.c", RUNNER_ALL },
    { "worker/runner/wire/wire_request.h", RUNNER_ALL },
    { "worker/runner/wire/wire_text.c", RUNNER_ALL },
    { "worker/runner/wire/wire_text.h", RUNNER_ALL },
    { "worker/runner/wire/element.h", RUNNER_ALL },
    { "worker/runner/wire/element_half.h", RUNNER_ALL },
    { "worker/runner/wire/element_type.h", RUNNER_ALL },
    { "worker/runner/wire/fill.h", RUNNER_ALL },
    { "worker/runner/wire/fill_integer.h", RUNNER_ALL },
    { "worker/runner/wire/fill_random.h", RUNNER_ALL },
    { "worker/runner/wire/edge.h", RUNNER_ALL },
    { "worker/runner/wire/tolerance.h", RUNNER_ALL },
    { "worker/runner/wire/trials.h", RUNNER_ALL },
    { "worker/runner/device/check.h", RUNNER_ALL },
    { "worker/runner/device/check_element.h", RUNNER_ALL },
    { "worker/runner/device/check_value.h", RUNNER_ALL },
    { "worker/runner/device/device.h", RUNNER_ALL },
    { "worker/runner/device/device_kernel.h", RUNNER_ALL },
    { "worker/runner/device/poison.h", RUNNER_ALL },
    { "worker/runner/cuda/device_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/device_cuda.h", RUNNER_CUDA },
    { "worker/runner/cuda/launch_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/module_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/module_cuda.h", RUNNER_CUDA },
    { "worker/runner/cuda/module_variables.c", RUNNER_CUDA },
    { "worker/runner/cuda/module_variables.h", RUNNER_CUDA },
    { "common/elf_file.c", RUNNER_CUDA },
    { "common/elf_file.h", RUNNER_CUDA },
    { "worker/runner/cuda/smem_cuda.h", RUNNER_CUDA },
    { "worker/runner/cuda/driver_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/driver_cuda.h", RUNNER_CUDA },
    { "worker/runner/cuda/gate_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/gate_cuda.h", RUNNER_CUDA },
    { "worker/runner/cuda/facts_cuda.c", RUNNER_CUDA },
    { "worker/runner/cuda/facts_cuda.h", RUNNER_CUDA },
    { "worker/runner/device/gpu_state.c", RUNNER_CUDA },
    { "worker/runner/device/gpu_state.h", RUNNER_CUDA },
    { "worker/runner/cuda/kernels_cuda.cu", RUNNER_CUDA },
    { "worker/runner/cuda/kernels_cuda.h", RUNNER_CUDA },
    { "worker/runner/device/device_host.c", RUNNER_CPU | RUNNER_REPLAY },
    { "worker/runner/device/device_host.h", RUNNER_CPU | RUNNER_REPLAY },
    { "worker/runner/device/device_cpu.c", RUNNER_CPU },
    { "worker/runner/device/device_cpu.h", RUNNER_CPU },
    { "worker/runner/device/launch_child.c", RUNNER_CPU },
    { "worker/runner/device/launch_child.h", RUNNER_CPU },
    { "worker/runner/device/order_check.c", RUNNER_CPU },
    { "worker/runner/device/order_check.h", RUNNER_CPU },
    { "worker/runner/device/object.c", RUNNER_CPU },
    { "worker/runner/device/object.h", RUNNER_CPU },
    { "worker/runner/device/confine.c", RUNNER_CPU },
    { "worker/runner/device/confine.h", RUNNER_CPU },
    { "kernels/include/fa/emulator.h", RUNNER_CPU },
    { "worker/runner/emulator/array.cc", RUNNER_CPU },
    { "worker/runner/emulator/array.h", RUNNER_CPU },
    { "worker/runner/emulator/block.cc", RUNNER_CPU },
    { "worker/runner/emulator/block.hh", RUNNER_CPU },
    { "worker/runner/emulator/declared.cc", RUNNER_CPU },
    { "worker/runner/emulator/declared.hh", RUNNER_CPU },
    { "worker/runner/emulator/emulator.cc", RUNNER_CPU },
    { "worker/runner/emulator/emulator.h", RUNNER_CPU },
    { "worker/runner/emulator/fault.cc", RUNNER_CPU },
    { "worker/runner/emulator/fault.hh", RUNNER_CPU },
    { "worker/runner/emulator/fiber.cc", RUNNER_CPU },
    { "worker/runner/emulator/fiber.hh", RUNNER_CPU },
    { "worker/runner/emulator/order.cc", RUNNER_CPU },
    { "worker/runner/emulator/order.h", RUNNER_CPU },
    { "worker/runner/emulator/shared.cc", RUNNER_CPU },
    { "worker/runner/emulator/shared.hh", RUNNER_CPU },
    { "worker/runner/emulator/tensor.cc", RUNNER_CPU },
    { "worker/runner/emulator/tensor.hh", RUNNER_CPU },
    { "worker/runner/emulator/warp.cc", RUNNER_CPU },
    { "worker/runner/device/device_replay.c", RUNNER_REPLAY },
    { "worker/runner/device/record.c", RUNNER_REPLAY },
    { "worker/runner/device/record.h", RUNNER_REPLAY },
    { NULL, 0 },
};
/* clang-format on */

static inline unsigned runner_device(const char *name)
{
    return device_kind_is(name, DEVICE_KIND_CUDA)     ? RUNNER_CUDA
           : device_kind_is(name, DEVICE_KIND_REPLAY) ? RUNNER_REPLAY
                                                      : RUNNER_CPU;
}

#endif
