/* emulation.h - the CUDA dialect of C++ for a host compiler
 *
 * Included before everything else when a kernel is built for the cpu device
 * (a kernel's own macros, such as D, would break later system headers).  It has
 * the keywords and built-in names of nvcc, the macro FA_EMULATION, and
 * FA_EMULATION_ENTRY(NAME), which exports a kernel to fa-runner.
 *
 * Static shared memory does not compile, because it could not be checked.
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
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "fa/emulator.h"

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __constant__
#define __shared__ static_shared_memory_is_not_supported_use_smem_base

#define threadIdx (fa_emu_self->thread_index)
#define blockIdx (fa_emu_grid.block_index)
#define blockDim (fa_emu_grid.block)
#define gridDim (fa_emu_grid.grid)

using dim3 = fa_emu_dim3;
using uint3 = fa_emu_dim3;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

inline float2 make_float2(float x, float y)
{
    return { x, y };
}

inline float4 make_float4(float x, float y, float z, float w)
{
    return { x, y, z, w };
}

template <typename T>
inline T min(T a, T b)
{
    return b < a ? b : a;
}

template <typename T>
inline T max(T a, T b)
{
    return a < b ? b : a;
}

inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}

inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

/* One fiber runs at a time, so a plain read and write is atomic. */
template <typename T>
inline T atomicAdd(T *p, T v)
{
    T old = *p;

    *p = old + v;
    return old;
}

inline float __uint_as_float(uint32_t bits)
{
    return fa_emu_bits_float(bits);
}

inline uint32_t __float_as_uint(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

inline uint32_t fa_emu_shuffle(int operation, uint32_t value, uint32_t lane, fa_site at)
{
    fa_emu_shfl operand = { value, lane };

    fa_emu_collective(operation, &operand, at);
    return operand.value;
}

#include "fa/builtins.h"

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

#define FA_EMULATION_ENTRY(NAME)                                                 \
    extern "C" const int fa_entry_abi = FA_EMU_ABI;                              \
    extern "C" constexpr auto fa_entry_parameters = fa_emu_parameters_of(NAME);  \
    extern "C" __attribute__((visibility("default"))) void fa_entry(void **args) \
    {                                                                            \
        fa_emu_call(NAME, args);                                                 \
    }

#endif
