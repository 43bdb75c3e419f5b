/* emulation.h - the CUDA dialect of C++ for a host compiler
 *
 * Included before everything else when a kernel is built for the cpu device: a
 * kernel's own macros, such as D, would break it, and later system headers.  What
 * is read or expanded after them (half.h, macros) has names with fa_ alone.  It has
 * the keywords and built-in names of nvcc, the macro FA_EMULATION, and
 * FA_EMULATION_ENTRY(NAME), which exports a kernel to fa-runner.
 */
#ifndef FA_EMULATION_H
#define FA_EMULATION_H

#define FA_EMULATION 1

/* The special functions of C++17, which no GPU has, take half of the time in
 * which a small kernel compiles.  Without this macro libstdc++ omits them. */
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <assert.h>
#include <initializer_list>
#include <limits>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <type_traits>
#include <utility>

#include "fa/emulator.h"
#include "fa/vectors.h"
#include "fa/intrinsics.h"
#include "fa/rounding.h"
#include "fa/builtins.h"
#include "fa/atomics.h"
#include "fa/clock.h"
#include "fa/groups.h"
#include "fa/cub.h"
#include "fa/pipeline.h"
#include "fa/wmma.h"
#include "fa/simd.h"
#include "fa/checks.h"
#include "fa/casts.h"

/* Never defined: a build is sent the files that #include lines name, and the line
 * <cuda_fp16.h> of a kernel names none of ours.  The folder is on the path. */
#ifdef FA_EMULATION_ALL_HEADERS
#include "fa_cuda/cooperative_groups.h"
#include "fa_cuda/cooperative_groups/memcpy_async.h"
#include "fa_cuda/cooperative_groups/reduce.h"
#include "fa_cuda/cooperative_groups/scan.h"
#include "fa_cuda/cub/block/block_reduce.cuh"
#include "fa_cuda/cub/block/block_scan.cuh"
#include "fa_cuda/cub/cub.cuh"
#include "fa_cuda/cub/warp/warp_reduce.cuh"
#include "fa_cuda/cub/warp/warp_scan.cuh"
#include "fa_cuda/cuda.h"
#include "fa_cuda/cuda_bf16.h"
#include "fa_cuda/cuda_fp16.h"
#include "fa_cuda/cuda_pipeline.h"
#include "fa_cuda/cuda_pipeline_primitives.h"
#include "fa_cuda/cuda_runtime.h"
#include "fa_cuda/cuda_runtime_api.h"
#include "fa_cuda/device_functions.h"
#include "fa_cuda/device_launch_parameters.h"
#include "fa_cuda/math_constants.h"
#include "fa_cuda/mma.h"
#include "fa_cuda/vector_functions.h"
#include "fa_cuda/vector_types.h"
#endif

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __constant__
/* It makes a variable of a function static, and leaves an extern one extern; all
 * fibers are of one host thread.  fa-runner gives both kinds their memory. */
#define __shared__ thread_local

#define threadIdx (fa_emu_self->fa_thread_index)
#define blockIdx (fa_emu_grid.fa_block_index)
#define blockDim (fa_emu_grid.fa_block)
#define gridDim (fa_emu_grid.fa_grid)
constexpr int warpSize = 32;

/* Nothing is made of it. */
#ifndef __clang__
#define __builtin_assume(...) ((void)sizeof(!(__VA_ARGS__)))
#endif

inline uint32_t fa_emu_shuffle(int operation, uint32_t value, uint32_t lane, fa_site at)
{
    fa_emu_shfl operand = { value, lane, 32 };

    fa_emu_collective(operation, &operand, at);
    return uint32_t(operand.value);
}

/* args[i] points to the kernel's argument i, as in cuLaunchKernel.  The index
 * pack pairs each with its type. */
template <int... I>
struct fa_emu_indices {
};

template <int N, int... I>
struct fa_emu_count : fa_emu_count<N - 1, N - 1, I...> {
};

template <int... I>
struct fa_emu_count<0, I...> {
    using type = fa_emu_indices<I...>;
};

template <typename... T, int... I>
inline void fa_emu_call(void (*kernel)(T...), void **args, fa_emu_indices<I...>)
{
    (void)args;
    kernel(*static_cast<typename fa_emu_value<T>::type *>(args[I])...);
}

template <typename... T>
inline void fa_emu_call(void (*kernel)(T...), void **args)
{
    fa_emu_call(kernel, args, typename fa_emu_count<sizeof...(T)>::type{});
}

/* The number of a kernel's parameters, then the size of each; fa-worker compares
 * them with the sweep file's arguments.  The last element makes room for none. */
template <int N>
struct fa_emu_parameters {
    uint32_t n, bytes[N + 1];
};

template <typename... T>
constexpr fa_emu_parameters<int(sizeof...(T))> fa_emu_parameters_of(void (*)(T...))
{
    return { sizeof...(T), { sizeof(T)..., 0 } };
}

/* Once in every object with a kernel. */
#define FA_EMULATION_OBJECT                                                    \
    extern "C" const int fa_entry_abi = FA_EMU_ABI;                            \
    /* what other names of dynamic shared memory are changed to */             \
    extern "C" __attribute__((visibility("default"))) void *fa_entry_dynamic() \
    {                                                                          \
        return fa_emu_dynamic;                                                 \
    }                                                                          \
    FA_EMU_CLOCK                                                               \
    FA_EMU_ASSERT                                                              \
    FA_EMU_CHECKS                                                              \
    FA_EMU_CASTS

#define FA_EMULATION_ENTRY(NAME)                                                    \
    FA_EMULATION_OBJECT                                                             \
    extern "C" constexpr auto fa_entry_parameters = fa_emu_parameters_of(NAME);     \
    extern "C" __attribute__((visibility("default"))) void fa_entry(void **fa_args) \
    {                                                                               \
        fa_emu_call(NAME, fa_args);                                                 \
    }

/* With these a kernel would have none of the compiler's checks (checks.h); a macro
 * in their place could be undone. */
#pragma GCC poison uninitialized __uninitialized__
#pragma GCC poison no_sanitize __no_sanitize__ no_sanitize_undefined
#pragma GCC poison __no_sanitize_undefined__ disable_sanitizer_instrumentation

#endif
