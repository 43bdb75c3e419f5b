/* kernels_grid.hh - what the runner's kernels share: loops, sums and a barrier
 * over all blocks of a grid
 *
 * The kernels are in several files, because nvcc compiles each of them on a core
 * of its own, and hosts wait for it.
 */
#ifndef FA_WORKER_RUNNER_CUDA_KERNELS_GRID_HH
#define FA_WORKER_RUNNER_CUDA_KERNELS_GRID_HH

#include "worker/runner/cuda/kernels_cuda.h"

static constexpr int THREADS = 256;

static inline unsigned blocks_for(int64_t n)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;

    return (unsigned)(blocks < 1 ? 1 : blocks > CHECK_BLOCKS ? CHECK_BLOCKS : blocks);
}

static __device__ inline int64_t first_index()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline int64_t index_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* All blocks of a grid wait for each other here; they must be on the GPU at the same time, so the
 * launch is cooperative.  cooperative_groups.h has such a barrier, too, but nvcc takes longer for
 * that header than for this whole file. */
struct grid_barrier {
    unsigned arrived; /* blocks; 0 when all have */
    unsigned passed;  /* how often all have */
};

static __device__ inline void wait_for_grid(struct grid_barrier *barrier)
{
    __syncthreads(); /* what the block's threads wrote comes before its arrival */
    if (threadIdx.x == 0) {
        unsigned passed = *(volatile unsigned *)&barrier->passed;

        __threadfence();
        if (atomicAdd(&barrier->arrived, 1) == gridDim.x - 1) {
            *(volatile unsigned *)&barrier->arrived = 0;
            __threadfence();
            *(volatile unsigned *)&barrier->passed = passed + 1;
        } else {
            while (*(volatile unsigned *)&barrier->passed == passed)
                ;
        }
        __threadfence();
    }
    __syncthreads(); /* the others go on when all blocks have arrived */
}

/* Differs for each place, so that words that have changed places are noticed. */
static __device__ inline unsigned long long sum_word(uint64_t word, int64_t i)
{
    uint64_t x = word + (uint64_t)i * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

/* Integer addition is commutative, so the order of the atomics does not matter. */
static __device__ inline void add_sum(const unsigned char *payload, int64_t bytes, unsigned long long *out)
{
    const ulonglong2 *pairs = (const ulonglong2 *)payload;
    int64_t n_pairs = bytes / (int64_t)sizeof(ulonglong2), rest = n_pairs * 16;
    unsigned long long sum = 0;
    __shared__ unsigned long long block;

    if (threadIdx.x == 0)
        block = 0;
    __syncthreads(); /* it is 0 before a warp adds to it */
#pragma unroll 4
    for (int64_t i = first_index(); i < n_pairs; i += index_step()) {
        ulonglong2 pair = __ldcs(&pairs[i]); /* the caches are for the kernel */

        sum += sum_word(pair.x, 2 * i) + sum_word(pair.y, 2 * i + 1);
    }
    if (first_index() < bytes - rest)
        sum += sum_word(payload[rest + first_index()], -1 - first_index());
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&block, sum);
    __syncthreads(); /* all warps have added theirs */
    if (threadIdx.x == 0)
        atomicAdd(out, block);
}

/* Sum over the block; the result is in thread 0. */
static __device__ inline double block_sum(double value)
{
    __shared__ double part[THREADS];

    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be added are complete */
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    value = part[0];
    __syncthreads(); /* 'part' may be used again */
    return value;
}

/* Likewise, the largest one. */
static __device__ inline double block_max(double value)
{
    __shared__ double part[THREADS];

    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be compared are complete */
        if (threadIdx.x < half && part[threadIdx.x + half] > part[threadIdx.x])
            part[threadIdx.x] = part[threadIdx.x + half];
    }
    value = part[0];
    __syncthreads(); /* 'part' may be used again */
    return value;
}

/* Element 'i' of a reference, of which 'ref' was read: sealed with 'key', or with 0 plain. */
static __device__ inline double unseal(double ref, int64_t i, uint64_t key)
{
    const uint64_t mask = key ? ~(uint64_t)0 : 0; /* a branch would part the loads of a loop */

    return __longlong_as_double(__double_as_longlong(ref) ^ (long long)(fill_bits(key, i) & mask));
}

static __device__ inline double unsealed(const double *ref, int64_t i, uint64_t key)
{
    return unseal(ref[i], i, key);
}

#endif
