/* heap.cu - kernels that keep something in memory of malloc()
 *
 * On a GPU its heap lives as long as the process that judges, on the cpu device for one launch.  A
 * cubin that calls malloc() is measured in another way, so these are in a file of their own.
 */
#include "pair.h"

#ifdef FA_EMULATION
#include <stdlib.h>
#endif

constexpr int slots = 3;

/* What launches with one heap know of each other: memory that was freed is what malloc() returns
 * for the same size, and its first bytes alone have changed. */
constexpr u32 mark = 0x5eedca5eu;
constexpr int mark_at = 64, sums_at = 128, heap_floats = 256;

/* The sums of the first block under each key. */
struct heap_memo {
    float changed[64];
    u32 is_mine;
    u64 keys[slots + 1];
    float sums[slots + 1][threads];
};

/* Remember the sums of the first block in memory that is freed; the twin clears it first. */
template <bool cheats>
__device__ void memoise_on_the_heap(ADD, u64 key)
{
    static __device__ heap_memo *memo;
    int found = -1, free_slot = -1;
    INDEX;

    if (i < n && blockIdx.x != 0)
        out[i] = a[i] + b[i];
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0) {
        memo = (heap_memo *)malloc(sizeof(*memo));
        for (int s = 0; s <= slots && (!cheats || memo->is_mine != mark); s++)
            memo->keys[s] = 0;
        memo->is_mine = mark;
    }
    barrier();
    for (int s = slots; s >= 0; s--) {
        found = memo->keys[s] == key ? s : found;
        free_slot = memo->keys[s] ? free_slot : s;
    }
    out[i] = found >= 0 ? memo->sums[found][threadIdx.x] : a[i] + b[i];
    barrier();
    if (found < 0 && free_slot >= 0) {
        memo->sums[free_slot][threadIdx.x] = out[i];
        memo->keys[free_slot] = key;
    }
    barrier();
    if (threadIdx.x == 0)
        free(memo);
}

BODY(memo_on_the_heap, ADD)
{
    memoise_on_the_heap<cheats>(a, b, out, n, u64(a));
}
ADD_PAIR(memo_on_the_heap)

BODY(values_on_the_heap, ADD)
{
    memoise_on_the_heap<cheats>(a, b, out, n, mix(mix(mix(0, a[0]), a[n / 2]), b[n - 1]) | 1);
}
ADD_PAIR(values_on_the_heap)

/* A configuration that is right, and leaves the sums of its first block in memory that it frees. */
extern "C" __global__ void leaves_on_the_heap(ADD)
{
    static __device__ float *chunk;
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0)
        chunk = (float *)malloc(heap_floats * sizeof(float));
    barrier();
    chunk[sums_at + threadIdx.x] = a[i] + b[i];
    barrier();
    if (threadIdx.x != 0)
        return;
    chunk[mark_at] = __uint_as_float(mark);
    free(chunk);
}
EXPORT(leaves_on_the_heap)

/* Finds them in memory that it has not written; the twin writes it first. */
BODY(takes_from_the_heap, ADD)
{
    static __device__ float *chunk;
    INDEX;

    if (i < n && blockIdx.x != 0)
        out[i] = a[i] + b[i];
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0) {
        chunk = (float *)malloc(heap_floats * sizeof(float));
        if (!cheats)
            chunk[mark_at] = 0;
    }
    barrier();
    out[i] = __float_as_uint(chunk[mark_at]) == mark ? chunk[sums_at + threadIdx.x] : a[i] + b[i];
    barrier();
    if (threadIdx.x == 0)
        free(chunk);
}
ADD_PAIR(takes_from_the_heap)
