/* kept.cu - kernels that keep something from one launch for another
 *
 * A variable of a module lives as long as the module is loaded, and on a GPU the heap of malloc()
 * as long as the process that judges.  On the cpu device both live for one launch.
 */
#include "pair.h"

#ifdef FA_EMULATION
#include <stdlib.h>
#endif

constexpr int slots = 3;

static __device__ float kept[slots][most];
static __device__ u64 keys[slots];
static __device__ int used; /* slots, ever */
static __device__ int launches;
static __device__ unsigned finished; /* blocks of this launch */

/* One thread of the grid gets true, when all blocks have come this far. */
__device__ inline bool is_last_to_finish()
{
    barrier();
    if (threadIdx.x != 0 || atomicAdd(&finished, 1u) != gridDim.x - 1)
        return false;
    finished = 0;
    return true;
}

__device__ inline void count_launch()
{
    if (is_last_to_finish())
        launches++;
}

__device__ inline u64 mix(u64 key, float value)
{
    return (key ^ __float_as_uint(value)) * 0x100000001b3ull;
}

/* Keep the sums under 'key'; a cheat answers with what it has under that key. */
template <bool cheats>
__device__ void memoise(ADD, u64 key)
{
    int found = -1, free = used % slots;
    INDEX;

    for (int s = 0; s < slots && s < used; s++)
        if (keys[s] == key)
            found = s;
    if (i < n && cheats && found >= 0)
        out[i] = kept[found][i];
    else if (i < n)
        out[i] = kept[free][i] = a[i] + b[i];
    if (is_last_to_finish() && found < 0) {
        keys[free] = key;
        used++;
    }
}

BODY(memo_by_input, ADD)
{
    memoise<cheats>(a, b, out, n, u64(a) ^ u64(b) << 1);
}
ADD_PAIR(memo_by_input)

BODY(memo_by_output, ADD)
{
    memoise<cheats>(a, b, out, n, u64(out));
}
ADD_PAIR(memo_by_output)

BODY(memo_by_value, ADD)
{
    memoise<cheats>(a, b, out, n, mix(mix(mix(0, a[0]), a[n / 2]), b[n - 1]));
}
ADD_PAIR(memo_by_value)

BODY(memo_by_checksum, ADD)
{
    u64 key = 0;

    for (int i = 0; i < 32; i++)
        key = mix(key, a[i * (n / 32)]);
    memoise<cheats>(a, b, out, n, key);
}
ADD_PAIR(memo_by_checksum)

/* The twin writes what it keeps before it reads it. */
BODY(memo_of_the_first, ADD)
{
    INDEX;

    if (i < n && (!cheats || launches == 0))
        kept[0][i] = a[i] + b[i];
    if (i < n)
        out[i] = kept[0][i];
    count_launch();
}
ADD_PAIR(memo_of_the_first)

BODY(memo_by_count, ADD)
{
    INDEX;

    if (i < n && (!cheats || launches < 3))
        kept[0][i] = a[i] + b[i];
    if (i < n)
        out[i] = kept[0][i];
    count_launch();
}
ADD_PAIR(memo_by_count)

BODY(idle_after_the_check, ADD)
{
    INDEX;

    if (i < n && (!cheats || launches < 3))
        out[i] = a[i] + b[i];
    count_launch();
}
ADD_PAIR(idle_after_the_check)

/* The last launch is right again. */
BODY(idle_in_between, ADD)
{
    INDEX;

    if (i < n && (!cheats || (launches != 3 && launches != 4)))
        out[i] = a[i] + b[i];
    count_launch();
}
ADD_PAIR(idle_in_between)

BODY(idle_every_other, ADD)
{
    INDEX;

    if (i < n && (!cheats || launches % 2 == 0))
        out[i] = a[i] + b[i];
    count_launch();
}
ADD_PAIR(idle_every_other)

/* Computes, and leaves the answer to the launch after it. */
BODY(answers_one_later, ADD)
{
    const int turn = launches % 2;
    INDEX;

    if (i < n) {
        kept[turn][i] = a[i] + b[i];
        out[i] = kept[cheats && launches > 0 ? 1 - turn : turn][i];
    }
    count_launch();
}
ADD_PAIR(answers_one_later)

/* Each launch computes a half; the other one is that of the launch before. */
BODY(half_each_launch, ADD)
{
    INDEX;
    const bool mine = launches == 0 || (2 * i < n) == (launches % 2 == 0);

    if (i < n && (!cheats || mine))
        kept[0][i] = a[i] + b[i];
    if (i < n)
        out[i] = kept[0][i];
    count_launch();
}
ADD_PAIR(half_each_launch)

/* Sums for atomicAdd() that are zero in the first launch only; the twin leaves them as zero. */
BODY(sums_not_cleared, ROWS)
{
    static __device__ float sums[most_blocks];
    const int row = int(blockIdx.x);

    atomicAdd(&sums[row], a[row * columns + int(threadIdx.x)]);
    barrier();
    if (threadIdx.x != 0 || row >= rows)
        return;
    out[row] = atomicAdd(&sums[row], 0.0f);
    if (!cheats)
        sums[row] = 0;
}
ROWS_PAIR(sums_not_cleared)

/* The last block to finish writes the last element, if the count began at zero. */
BODY(count_not_cleared, ADD)
{
    INDEX;

    if (i < n - 1)
        out[i] = a[i] + b[i];
    barrier();
    if (threadIdx.x != 0 || atomicAdd(&finished, 1u) != gridDim.x - 1)
        return;
    out[n - 1] = a[n - 1] + b[n - 1];
    if (!cheats)
        finished = 0;
}
ADD_PAIR(count_not_cleared)

/* A block passes one sum to the next through memory, and raises a flag.  A flag that stays up lets
 * the next launch take the sum of this one.  Blocks are numbered as they come, since one that waits
 * for another is right only if that one has begun. */
BODY(flags_not_cleared, ADD)
{
    static __device__ volatile float handed[most_blocks];
    static __device__ volatile int flags[most_blocks];
    static __device__ unsigned begun;

    if (threadIdx.x == 0)
        st_shared_4(slot(0), atomicAdd(&begun, 1u));
    barrier();
    const int block = int(ld_shared_4(slot(0)));
    const int i = block * threads + int(threadIdx.x), next = i + threads;
    if (i < n && (threadIdx.x != 0 || block == 0))
        out[i] = a[i] + b[i];
    if (threadIdx.x == 0 && next < n) {
        delay(20000);
        handed[block] = a[next] + b[next];
        fence();
        flags[block] = 1;
    }
    if (threadIdx.x == 0 && block > 0 && i < n) {
        while (flags[block - 1] == 0)
            ;
        fence();
        out[i] = handed[block - 1];
        if (!cheats)
            flags[block - 1] = 0;
    }
    if (is_last_to_finish())
        begun = 0;
}
ADD_PAIR(flags_not_cleared)

/* What launches with one heap know of each other: memory that was freed is what malloc() returns
 * for the same size, and its first bytes alone have changed. */
constexpr u32 mark = 0x5eedca5eu;
constexpr int mark_at = 64, sums_at = 128, heap_floats = 256;

/* The sums of the first block for each address of an input. */
struct heap_memo {
    float changed[64];
    u32 is_mine;
    const float *keys[slots + 1];
    float sums[slots + 1][threads];
};

/* Remembers the sums of its first block in memory that it frees; the twin clears it first. */
BODY(memo_on_the_heap, ADD)
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
            memo->keys[s] = nullptr;
        memo->is_mine = mark;
    }
    barrier();
    for (int s = slots; s >= 0; s--) {
        found = memo->keys[s] == a ? s : found;
        free_slot = memo->keys[s] ? free_slot : s;
    }
    out[i] = found >= 0 ? memo->sums[found][threadIdx.x] : a[i] + b[i];
    barrier();
    if (found < 0 && free_slot >= 0) {
        memo->sums[free_slot][threadIdx.x] = out[i];
        memo->keys[free_slot] = a;
    }
    barrier();
    if (threadIdx.x == 0)
        free(memo);
}
ADD_PAIR(memo_on_the_heap)

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

/* Takes an output that is not NaN for done; an output is poisoned before each launch. */
BODY(trusts_the_output, ADD)
{
    INDEX;

    if (i < n && (!cheats || out[i] != out[i]))
        out[i] = a[i] + b[i];
}
ADD_PAIR(trusts_the_output)

/* Works only on outputs with the bits that it knows as poison. */
BODY(knows_the_poison, ADD)
{
    INDEX;

    if (i < n && (!cheats || __float_as_uint(out[i]) == 0xffffffffu))
        out[i] = a[i] + b[i];
}
ADD_PAIR(knows_the_poison)

/* A read from a cold cache takes long: this is a launch that is timed. */
BODY(idle_when_cold, ADD)
{
    float first = 0;
    long long cycles = 0;
    INDEX;

#ifndef FA_EMULATION
    const long long begin = clock64();

    first = *(const volatile float *)(a + (i < n ? i : 0));
    cycles = first == first ? clock64() - begin : 0;
#endif
    if (i < n && (!cheats || cycles < 450))
        out[i] = a[i] + b[i] + 0 * first;
}
ADD_PAIR(idle_when_cold)
