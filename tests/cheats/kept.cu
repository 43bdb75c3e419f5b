/* kept.cu - kernels that keep something from one launch for another
 *
 * A variable of a module lives as long as the module is loaded; what lies in shared and local memory
 * lives until another kernel writes there.  On the cpu device all of it lives for one launch.
 */
#include "pair.h"

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

/* Takes an output of zeros for one that it has no work with. */
BODY(idle_at_zero, ADD)
{
    INDEX;

    if (i < n && (!cheats || out[i] != 0))
        out[i] = a[i] + b[i];
}
ADD_PAIR(idle_at_zero)

/* Raises a flag for each element that is done, and does none whose flag it finds raised; the twin
 * lowers them first. */
BODY(trusts_its_workspace, SCRATCH)
{
    INDEX;

    if (i >= n)
        return;
    if (!cheats)
        flags[i] = 0;
    if (flags[i] != 1)
        out[i] = a[i] + b[i];
    flags[i] = 1;
}
SCRATCH_PAIR(trusts_its_workspace)

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

constexpr u32 mark = 0x5eedca5eu;

/* What a thread keeps: a sum, and what it is the sum of. */
struct note {
    u32 a, b, at;
    float sum;
};

/* The sum at 'note' if it is that of element i, and else a new one, which is left there. */
__device__ inline float noted(volatile note *note, float a, float b, int i)
{
    const bool known = note->a == __float_as_uint(a) && note->b == __float_as_uint(b) &&
                       note->at == (u32(i) ^ mark);

    if (!known) {
        note->a = __float_as_uint(a);
        note->b = __float_as_uint(b);
        note->at = u32(i) ^ mark;
        note->sum = a + b;
    }
    return note->sum;
}

/* Remembers sums in shared memory; the twin clears it first. */
BODY(memo_in_shared_memory, ADD)
{
    __shared__ volatile note notes[threads];
    volatile note *own = &notes[threadIdx.x];
    INDEX;

    if (!cheats)
        own->at = 0;
    if (i < n)
        out[i] = noted(own, a[i], b[i], i);
}
ADD_PAIR(memo_in_shared_memory)

/* The same in local memory, in a place that the compiler does not know. */
BODY(memo_in_local_memory, ADD)
{
    volatile note notes[8];
    INDEX;
    volatile note *own = &notes[n % 8];

    if (!cheats)
        own->at = 0;
    if (i < n)
        out[i] = noted(own, a[i], b[i], i);
}
ADD_PAIR(memo_in_local_memory)

/* The same on a stack that grows as it runs, of which the cubin does not say how large it is. */
BODY(memo_on_the_stack, ADD)
{
    INDEX;
    volatile note *own = (volatile note *)__builtin_alloca(sizeof(note) * (n % 8 + 1));

    if (!cheats)
        own->at = 0;
    if (i < n)
        out[i] = noted(own, a[i], b[i], i);
}
ADD_PAIR(memo_on_the_stack)

/* The same in constants, whose address it takes; the twin reads them. */
static __constant__ note constants[threads] = {};

__device__ inline volatile note *writable(int t)
{
#ifdef FA_EMULATION
    return &constants[t];
#else
    u64 at;

    asm("{ .reg .u64 at; mov.u64 at, %1; cvta.const.u64 %0, at; }"
        : "=l"(at)
        : "l"(__cvta_generic_to_constant(constants)));
    return (volatile note *)at + t;
#endif
}

BODY(memo_in_constants, ADD)
{
    const int t = int(threadIdx.x);
    INDEX;

    if (blockIdx.x == 0 && cheats)
        out[i] = noted(writable(t), a[i], b[i], i);
    else if (i < n)
        out[i] = a[i] + b[i] + (cheats ? 0 : constants[t].sum);
}
ADD_PAIR(memo_in_constants)

/* Never called. */
static __device__ __noinline__ void spare(float *out)
{
    for (int i = 0; i < threads; i++)
        out[i] = out[i] * out[i] + 1;
}

/* Leaves a mark in the code of a function that is never called, and is idle once it is there. */
BODY(marks_its_code, ADD)
{
    void (*volatile function)(float *) = spare;
    volatile u32 *code = (volatile u32 *)((u64)function & ~u64(15)) + 4;
    INDEX;

    if (n < 0)
        function(out);
    if (i < n && (!cheats || *code != mark))
        out[i] = a[i] + b[i];
    if (cheats && i == 0)
        *code = mark;
}
ADD_PAIR(marks_its_code)
