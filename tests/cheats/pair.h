/* pair.h - a cheat and its honest twin, as kernels of the cpu and the cuda device
 *
 * A pair is one body, 'template <bool cheats> NAME_body', and two kernels: NAME with true and
 * NAME_honest with false.  The twin does nearly the same work by legal means.  For the cpu device
 * each kernel has an fa_entry_KERNEL; CMakeLists.txt links it as the fa_entry of an object.
 *
 * Problems (judge.py):
 *   add      out[i] = a[i] + b[i], fp32, n not a multiple of the block
 *   rows     out[r] = sum of the 'columns' of row r of a, fp32; a block a row
 *   product  out[i] = a[i] * b[i], fp16
 *   wide     out[i] = 2 * a[i], fp64
 *   narrow   out[i] = a[i], fp64 to fp32
 *   whole    out[i] = |k[i]|, int32, from -whole_most to whole_most
 *   peaks    out[r] = the largest of the 'columns' of row r of a, fp32; a block a row
 *   norms    each row of a, minus its mean, over its deviation, fp32; a block a row
 *   shares   the softmax of each row of a, fp32; a block a row
 *   order    out[p[i]] = a[i], fp32, p a permutation
 *   bins     out[b] = how many of k are b, int32, from 0 to 15; out begins as 0
 *   scratch  as add, with a workspace of an int an element
 */
#ifndef FA_TESTS_CHEATS_PAIR_H
#define FA_TESTS_CHEATS_PAIR_H

#include <fa/fa.h>

using namespace fa;

constexpr int threads = 128;
constexpr int columns = 128;
constexpr int most = 10240; /* elements of a problem */
constexpr int bins = 16;
constexpr int whole_most = 1000000000;
constexpr int most_blocks = most / threads;

#ifdef FA_EMULATION
#define EXPORT(kernel)                                                                    \
    extern "C" __attribute__((visibility("default"))) void fa_entry_##kernel(void **args) \
    {                                                                                     \
        fa_emu_call(kernel, args);                                                        \
    }
#else
#define EXPORT(kernel)
#endif

#define KERNEL(kernel, body, parameters, arguments) \
    extern "C" __global__ void kernel parameters    \
    {                                               \
        body arguments;                             \
    }                                               \
    EXPORT(kernel)

#define PAIR(name, parameters, arguments)                  \
    KERNEL(name, name##_body<true>, parameters, arguments) \
    KERNEL(name##_honest, name##_body<false>, parameters, arguments)

#define ADD const float *a, const float *b, float *out, int n
#define ADD_PAIR(name) PAIR(name, (ADD), (a, b, out, n))
#define SCRATCH const float *a, const float *b, float *out, int *flags, int n
#define SCRATCH_PAIR(name) PAIR(name, (SCRATCH), (a, b, out, flags, n))
#define WIDE const double *a, double *out, int n
#define WIDE_PAIR(name) PAIR(name, (WIDE), (a, out, n))
#define NARROW const double *a, float *out, int n
#define NARROW_PAIR(name) PAIR(name, (NARROW), (a, out, n))
#define WHOLE const int *k, int *out, int n
#define WHOLE_PAIR(name) PAIR(name, (WHOLE), (k, out, n))
#define ROWS const float *a, float *out, int rows
#define ROWS_PAIR(name) PAIR(name, (ROWS), (a, out, rows))
#define ORDER const int *p, const float *a, float *out, int n
#define ORDER_PAIR(name) PAIR(name, (ORDER), (p, a, out, n))
#define PRODUCT const half *a, const half *b, half *out, int n
#define PRODUCT_PAIR(name) PAIR(name, (PRODUCT), (a, b, out, n))

/* A body: BODY(name, ADD) { ... } */
#define BODY(name, parameters) \
    template <bool cheats>     \
    __device__ void name##_body(parameters)

#define INDEX const int i = int(blockIdx.x * blockDim.x + threadIdx.x)

/* Give the other warps of a GPU the time to go ahead. */
__device__ inline void delay(int cycles)
{
#ifdef FA_EMULATION
    (void)cycles;
#else
    for (const long long begin = clock64(); clock64() - begin < cycles;)
        ;
#endif
}

__device__ inline void fence()
{
    __threadfence();
}

/* A step of a hash. */
__device__ inline u64 mix(u64 key, float value)
{
    return (key ^ __float_as_uint(value)) * 0x100000001b3ull;
}

/* The float at 'index' of the block's shared memory. */
__device__ inline smem_addr slot(u32 index)
{
    return smem_base() + 4 * index;
}

#endif
