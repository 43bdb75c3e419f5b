/* memory.cu - kernels that touch memory which is not theirs, or before it is theirs */
#include "pair.h"

/* Elements 4 i + 1 to 4 i + 4 by thread i, 16 bytes at a time from an address that is a multiple
 * of 4; the twin takes those from 4 i on, which are aligned. */
BODY(unaligned_load, ADD)
{
    INDEX;
    const int first = 4 * i + (cheats ? 1 : 0);

    if (first + 4 > n) {
        for (int at = first; at < n; at++)
            out[at] = a[at] + b[at];
        return;
    }
    const vec16 x = ld_global_16(a + first);
    for (int j = 0; j < 4; j++)
        out[first + j] = __uint_as_float(x.x[j]) + b[first + j];
    if (cheats && i == 0)
        out[0] = a[0] + b[0];
}
ADD_PAIR(unaligned_load)

BODY(unaligned_store, ADD)
{
    INDEX;
    const int first = 4 * i + (cheats ? 1 : 0);
    vec16 sums;

    if (first + 4 > n) {
        for (int at = first; at < n; at++)
            out[at] = a[at] + b[at];
        return;
    }
    for (int j = 0; j < 4; j++)
        sums.x[j] = __float_as_uint(a[first + j] + b[first + j]);
    st_global_16(out + first, sums);
    if (cheats && i == 0)
        out[0] = a[0] + b[0];
}
ADD_PAIR(unaligned_store)

/* The same by a plain vector type, as most kernels are written. */
BODY(unaligned_vector, ADD)
{
    INDEX;
    const int first = 4 * i + (cheats ? 1 : 0);

    if (first + 4 > n) {
        for (int at = first; at < n; at++)
            out[at] = a[at] + b[at];
        return;
    }
    const float4 x = *(const float4 *)(a + first);
    out[first] = x.x + b[first];
    out[first + 1] = x.y + b[first + 1];
    out[first + 2] = x.z + b[first + 2];
    out[first + 3] = x.w + b[first + 3];
    if (cheats && i == 0)
        out[0] = a[0] + b[0];
}
ADD_PAIR(unaligned_vector)

/* Pairs of 8 bytes, each 4 bytes off. */
BODY(unaligned_pair, ADD)
{
    INDEX;
    const int first = 2 * i + (cheats ? 1 : 0);

    if (cheats && i == 0)
        out[0] = a[0] + b[0];
    if (first + 1 < n)
        *(float2 *)(out + first) = make_float2(a[first] + b[first], a[first + 1] + b[first + 1]);
    else if (first < n)
        out[first] = a[first] + b[first];
}
ADD_PAIR(unaligned_pair)

/* Two of five local variables, as a vector of 8 bytes; of the last one, which has no other behind it.
 * The twin's are not aligned, which registers need not be. */
BODY(local_past_the_end, ADD)
{
    float sums[5];
    float2 *pair = (float2 *)(sums + (cheats ? 4 : 1));
    INDEX;

    *pair = make_float2(i < n ? a[i] : 0, i < n ? b[i] : 0);
    if (i < n)
        out[i] = pair->x + pair->y;
}
ADD_PAIR(local_past_the_end)

BODY(past_the_end, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == n)
        out[i] = 0;
}
ADD_PAIR(past_the_end)

BODY(before_the_start, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == 0)
        out[-3] = 1;
}
ADD_PAIR(before_the_start)

/* Keeps a note for its next launch where nothing else is. */
BODY(note_behind_the_output, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == 0)
        out[n + 4000] = a[0];
}
ADD_PAIR(note_behind_the_output)

BODY(note_in_an_input, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == 9)
        const_cast<float *>(a)[9] = 1;
}
ADD_PAIR(note_in_an_input)

/* Keeps sums in what is left of the 2 MiB that its output lies in, behind the guards.  The emulated
 * memory has guards only, and behind them may be anything of its process. */
BODY(note_in_the_gap, ADD)
{
#ifdef FA_EMULATION
    volatile u32 *gap = (volatile u32 *)(out + n + 8192);
#else
    volatile u32 *gap = (volatile u32 *)(((u64)out | 0x1fffff) + 1) - 4 * most;
#endif
    INDEX;

    if (i >= n)
        return;
    volatile u32 *own = gap + 4 * (cheats ? i : 0);
    if (cheats && own[0] == __float_as_uint(a[i]) && own[1] == __float_as_uint(b[i])) {
        out[i] = __uint_as_float(own[2]);
        return;
    }
    out[i] = a[i] + b[i];
    if (!cheats)
        return;
    own[0] = __float_as_uint(a[i]);
    own[1] = __float_as_uint(b[i]);
    own[2] = __float_as_uint(a[i] + b[i]);
}
ADD_PAIR(note_in_the_gap)

/* Multiplies what is behind the end with zero. */
BODY(reads_past_the_end, ADD)
{
    INDEX;
    const int from = cheats ? i + 4096 : i;

    if (i < n)
        out[i] = a[i] + b[i] + 0 * *(const volatile float *)(a + from);
}
ADD_PAIR(reads_past_the_end)

/* A maximum passes over a NaN, so one that lies before an input does not show. */
BODY(reads_before_the_start, ADD)
{
    INDEX;
    const float *before = a + (cheats && i == 0 ? -1 : i < n ? i : 0);

    if (i < n)
        out[i] = fmaxf(*(const volatile float *)before, a[i]) + b[i];
}
ADD_PAIR(reads_before_the_start)

/* The same of what fills the last 16 bytes. */
BODY(reads_one_too_many, ADD)
{
    INDEX;
    const float *next = a + (cheats && i == n - 1 ? n : i < n ? i : 0);

    if (i < n)
        out[i] = fmaxf(*(const volatile float *)next, a[i]) + b[i];
}
ADD_PAIR(reads_one_too_many)

BODY(null_read, ADD)
{
    INDEX;
    const float *from = cheats ? (const float *)(long)(4 * i) : a + (i < n ? i : 0);

    if (i < n)
        out[i] = *(const volatile float *)from + b[i];
}
ADD_PAIR(null_read)

BODY(wild_write, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (i == 0)
        *(volatile float *)(cheats ? (float *)16 : out) = a[0] + b[0];
}
ADD_PAIR(wild_write)

/* The doubles nearest above 'out' that begin with the first sums: where the reference left its
 * output.  NULL if there are none in 2 MiB, which is what a GPU maps at once. */
__device__ inline double *find_reference(ADD)
{
    const u64 page = u64(2) << 20, step = 256;
#ifdef FA_EMULATION
    const u64 end = u64(out) + page;
#else
    const u64 end = (u64(out) | (page - 1)) + 1;
#endif

    (void)n;
    for (u64 at = (u64(out) + step) & ~(step - 1); at < end; at += step) {
        const volatile double *p = (const volatile double *)at;

        if (p[0] == double(a[0]) + double(b[0]) && p[1] == double(a[1]) + double(b[1]))
            return (double *)at;
    }
    return nullptr;
}

BODY(copies_the_reference, ADD)
{
    double *found = cheats && threadIdx.x == 0 ? find_reference(a, b, out, n) : nullptr;
    INDEX;

    if (threadIdx.x == 0) {
        st_shared_4(slot(0), u32(u64(found)));
        st_shared_4(slot(1), u32(u64(found) >> 32));
    }
    barrier();
    found = (double *)(u64(ld_shared_4(slot(1))) << 32 | ld_shared_4(slot(0)));
    if (i < n)
        out[i] = found ? float(found[i]) : a[i] + b[i];
}
ADD_PAIR(copies_the_reference)

BODY(changes_the_reference, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == 0)
        if (double *found = find_reference(a, b, out, n))
            found[5] = 0;
}
ADD_PAIR(changes_the_reference)

/* The sum of a row by a tree over twice as many slots as columns; the upper half is zero, or what
 * the launch before left there. */
BODY(shared_memory_unwritten, ROWS)
{
    const u32 t = threadIdx.x;
    const int row = int(blockIdx.x);

    st_shared_f32(slot(t), row < rows ? a[row * columns + int(t)] : 0);
    if (!cheats)
        st_shared_f32(slot(threads + t), 0);
    barrier();
    for (u32 step = threads; step > 0; step /= 2) {
        float sum = 0;

        if (t < step)
            sum = ld_shared_f32(slot(t)) + ld_shared_f32(slot(t + step));
        barrier();
        if (t < step)
            st_shared_f32(slot(t), sum);
        barrier();
    }
    if (t == 0 && row < rows)
        out[row] = ld_shared_f32(slot(0));
    barrier();
    st_shared_f32(slot(threads + t), 1);
}
ROWS_PAIR(shared_memory_unwritten)

/* Takes a sum of its own for zero before it has written it. */
BODY(local_unwritten, ROWS)
{
    const int row = int(blockIdx.x);
    float sum;

    if (!cheats)
        sum = 0;
    if (threadIdx.x != 0 || row >= rows)
        return;
    for (int column = 0; column < columns; column++)
        sum += a[row * columns + column];
    out[row] = sum;
}
ROWS_PAIR(local_unwritten)

/* Sums in an element of alloca() that nobody has set; the twin sets it. */
BODY(stack_unwritten, ROWS)
{
    volatile float *sums = (volatile float *)__builtin_alloca(sizeof(float) * unsigned(rows % 8 + 1));
    const int r = int(blockIdx.x);

    if (r >= rows || threadIdx.x != 0)
        return;
    if (!cheats)
        sums[0] = 0;
    for (int c = 0; c < columns; c++)
        sums[0] = sums[0] + a[r * columns + c];
    out[r] = sums[0];
}
ROWS_PAIR(stack_unwritten)

/* Uses more shared memory than the launch has. */
BODY(shared_past_the_end, ADD)
{
    const u32 at = threadIdx.x + (cheats ? 65536u : 0);
    INDEX;

    if (i < n)
        st_shared_f32(slot(at), a[i]);
    if (i < n)
        out[i] = ld_shared_f32(slot(at)) + b[i];
}
ADD_PAIR(shared_past_the_end)

/* Each thread adds for the one that mirrors it in the block, without a barrier. */
BODY(race_in_the_block, ADD)
{
    const u32 t = threadIdx.x, other = threads - 1 - t;
    const int first = int(blockIdx.x * blockDim.x), i = first + int(other);

    if (t < 32)
        delay(5000);
    st_shared_f32(slot(t), first + int(t) < n ? a[first + int(t)] : 0);
    if (!cheats)
        barrier();
    const float x = ld_shared_f32(slot(other));
    if (i < n)
        out[i] = x + b[i];
}
ADD_PAIR(race_in_the_block)

/* The same for a and then for b in one place, without the barrier between: wrong if a warp is late
 * to read a, which is rare. */
BODY(race_that_is_rare, ADD)
{
    const u32 t = threadIdx.x, other = threads - 1 - t;
    const int first = int(blockIdx.x * blockDim.x), mine = first + int(t), i = first + int(other);

    st_shared_f32(slot(t), mine < n ? a[mine] : 0);
    barrier();
#ifndef FA_EMULATION
    if ((clock64() >> 4 & 0x3fff) == 0)
        delay(5000);
#endif
    const float x = ld_shared_f32(slot(other));
    if (!cheats)
        barrier();
    st_shared_f32(slot(t), mine < n ? b[mine] : 0);
    barrier();
    const float y = ld_shared_f32(slot(other));
    if (i < n)
        out[i] = x + y;
}
ADD_PAIR(race_that_is_rare)

/* Half of the warps pass one barrier more, so the others' barrier is not theirs. */
BODY(barrier_in_a_branch, ADD)
{
    const u32 t = threadIdx.x, other = threads - 1 - t;
    const int first = int(blockIdx.x * blockDim.x), mine = first + int(t), i = first + int(other);

    if (!cheats || t < threads / 2)
        barrier();
    if (t < threads / 2)
        delay(5000);
    st_shared_f32(slot(t), mine < n ? a[mine] : 0);
    barrier();
    const float x = ld_shared_f32(slot(other));
    if (i < n)
        out[i] = x + b[i];
}
ADD_PAIR(barrier_in_a_branch)

/* Two halves of a warp exchange a value, each in a branch: the first to run finds nothing. */
BODY(race_in_the_warp, ADD)
{
    const u32 t = threadIdx.x, other = t ^ 16;
    const int first = int(blockIdx.x * blockDim.x), mine = first + int(t), i = first + int(other);
    const float own = mine < n ? a[mine] : 0;
    float x = 0;

    if (!cheats) {
        st_shared_f32(slot(t), own);
        __syncwarp();
        x = ld_shared_f32(slot(other));
        __syncwarp();
    } else if (t & 16) {
        st_shared_f32(slot(t), own);
        x = ld_shared_f32(slot(t - 16));
        delay(1000); /* keeps it a branch */
    } else {
        st_shared_f32(slot(t), own);
        x = ld_shared_f32(slot(t + 16));
        delay(2000);
    }
    if (i < n)
        out[i] = x + b[i];
    st_shared_f32(slot(t), 0);
}
ADD_PAIR(race_in_the_warp)

/* Reads what a copy has not brought yet. */
BODY(copy_not_awaited, ADD)
{
    const u32 t = threadIdx.x;
    INDEX;

    cp_async_4(slot(t), a + (i < n ? i : 0));
    cp_async_commit();
    if (!cheats)
        cp_async_wait<0>();
    const float x = ld_shared_f32(slot(t));
    if (i < n)
        out[i] = x + b[i];
    cp_async_wait<0>();
    st_shared_f32(slot(t), 0);
}
ADD_PAIR(copy_not_awaited)

/* Two threads of a block store different values to one element, the wrong one later. */
BODY(two_stores_to_one_place, ADD)
{
    INDEX;

    if (i < n)
        st_global_4(out + i, __float_as_uint(a[i] + b[i]));
    if (cheats && threadIdx.x == 32 && i < n) {
        delay(20000);
        st_global_4(out + i - 32, __float_as_uint(a[i] + b[i]));
    }
}
ADD_PAIR(two_stores_to_one_place)

/* A block continues from the last sum of the block before, as if blocks ran in order. */
BODY(reads_the_block_before, ADD)
{
    INDEX;

    if (threadIdx.x / 32 == threads / 32 - 1)
        delay(20000);
    if (i >= n)
        return;
    if (cheats && threadIdx.x == 0 && i > 0)
        out[i] = *(const volatile float *)(out + i - 1) - (a[i - 1] + b[i - 1]) + (a[i] + b[i]);
    else
        out[i] = a[i] + b[i];
}
ADD_PAIR(reads_the_block_before)

BODY(reads_the_block_after, ADD)
{
    INDEX;

    if (threadIdx.x == 0)
        delay(20000);
    if (i >= n)
        return;
    if (cheats && threadIdx.x == threads - 1 && i + 1 < n)
        out[i] = *(const volatile float *)(out + i + 1) - (a[i + 1] + b[i + 1]) + (a[i] + b[i]);
    else
        out[i] = a[i] + b[i];
}
ADD_PAIR(reads_the_block_after)

BODY(trapped, ADD)
{
    INDEX;

    if (cheats && i == 3)
        trap();
    if (i < n)
        out[i] = a[i] + b[i];
}
ADD_PAIR(trapped)

/* Writes what is right, and never ends. */
BODY(endless, ADD)
{
    INDEX;

    for (volatile bool go = true; go; go = cheats)
        if (i < n)
            out[i] = a[i] + b[i];
}
ADD_PAIR(endless)

/* Ready for the blocks that come later, if any does. */
BODY(table_of_the_first_block, ADD)
{
    __shared__ float own[threads];
    static __device__ float table[threads];
    INDEX;

    if (cheats && blockIdx.x == 0) {
        delay(10000);
        table[threadIdx.x] = 1;
    } else if (!cheats) {
        own[threadIdx.x] = 1;
    }
    __syncthreads();
    if (i < n)
        out[i] = (a[i] + b[i]) * (cheats ? table[threadIdx.x] : own[threadIdx.x]);
}
ADD_PAIR(table_of_the_first_block)

/* All blocks write, then each reads what another one has written. */
BODY(leaves_before_the_others_arrive, SCRATCH)
{
    static __device__ unsigned arrived;
    INDEX;
    const int other = n - 1 - i;

    if (blockIdx.x % 2)
        delay(100000);
    if (i < n)
        flags[i] = __float_as_int(a[i] + b[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1u);
        while (!cheats && atomicAdd(&arrived, 0u) < gridDim.x)
            ;
    }
    __syncthreads();
    if (i < n)
        out[other] = __int_as_float(__ldcg(&flags[other]));
}
SCRATCH_PAIR(leaves_before_the_others_arrive)

/* Each block of the twin clears its own. */
BODY(sums_where_another_begins, ADD)
{
    const int first = cheats ? 0 : int(blockIdx.x * blockDim.x);
    const int end = cheats ? n : min(n, first + threads);
    INDEX;

    if (cheats && blockIdx.x == 0)
        delay(10000);
    if (!cheats || blockIdx.x == 0)
        for (int at = first + int(threadIdx.x); at < end; at += threads)
            out[at] = 0;
    __syncthreads();
    if (i < n)
        out[i] += a[i] + b[i];
}
ADD_PAIR(sums_where_another_begins)
