/* shared.cu - kernels that misuse __shared__ variables, as they are written for nvcc alone */
#include "pair.h"

/* From one array to another, in floats: hidden from the compiler, which would find the other. */
__device__ inline int distance(const float *from, const float *to)
{
    volatile int distance = int(to - from);

    return distance;
}

/* Reads one array behind its end, where another one lies. */
BODY(shared_into_the_next, ADD)
{
    __shared__ float first[threads], second[threads];
    const int t = int(threadIdx.x), away = distance(first, second);
    INDEX;

    first[t] = i < n ? b[i] : 0;
    second[t] = i < n ? a[i] : 0;
    __syncthreads();
    if (i >= n)
        return;
    if (!cheats)
        out[i] = first[t] + second[t];
    else if (away > 0)
        out[i] = first[t] + first[t + away];
    else
        out[i] = second[t] + second[t - away];
}
ADD_PAIR(shared_into_the_next)

/* Reads one before its start. */
BODY(shared_into_the_one_before, ADD)
{
    __shared__ float first[threads], second[threads];
    const int t = int(threadIdx.x), away = distance(first, second);
    INDEX;

    first[t] = i < n ? b[i] : 0;
    second[t] = i < n ? a[i] : 0;
    __syncthreads();
    if (i >= n)
        return;
    if (!cheats)
        out[i] = first[t] + second[t];
    else if (away > 0)
        out[i] = second[t] + second[t - away];
    else
        out[i] = first[t] + first[t + away];
}
ADD_PAIR(shared_into_the_one_before)

/* Goes from row to row by the index of the first one, and behind the last row; the twin does not. */
BODY(shared_past_the_rows, ADD)
{
    __shared__ float rows[4][threads / 4];
    volatile int behind = threads;
    const int t = int(threadIdx.x);
    INDEX;

    rows[0][t] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = fmaxf(rows[0][t], rows[0][cheats ? t + behind : t]) + b[i];
}
ADD_PAIR(shared_past_the_rows)

/* The same by a pointer, where the compiler does not see which array it is. */
__device__ __noinline__ float read_at(const float *from, int index)
{
    return *(const volatile float *)(from + index);
}

BODY(shared_by_pointer, ADD)
{
    __shared__ float first[threads], second[threads];
    const int t = int(threadIdx.x), away = distance(first, second);
    INDEX;

    first[t] = i < n ? b[i] : 0;
    second[t] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = first[t] + (cheats ? read_at(first, t + away) : read_at(second, t));
}
ADD_PAIR(shared_by_pointer)

/* The largest of a row's pairs, by a tree over twice as many slots as are written.  A maximum
 * passes over a NaN. */
BODY(shared_maximum_unwritten, ADD)
{
    __shared__ float slots[2 * threads];
    const int t = int(threadIdx.x);
    INDEX;

    slots[t] = i < n ? a[i] : 0;
    if (!cheats)
        slots[threads + t] = slots[t];
    __syncthreads();
    if (i < n)
        out[i] = fmaxf(slots[t], slots[threads + t]) + b[i];
}
ADD_PAIR(shared_maximum_unwritten)

/* Reads behind the shared memory of the launch, of 1024 bytes. */
extern __shared__ float whole[];

BODY(dynamic_past_the_end, ADD)
{
    const int t = int(threadIdx.x);
    INDEX;

    whole[t] = whole[threads + t] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = fmaxf(whole[t], whole[(cheats ? 2 * threads : threads) + t]) + b[i];
}
ADD_PAIR(dynamic_past_the_end)

/* All threads add to one variable, which is right but for the rounding if one runs after the
 * other. */
BODY(sum_without_atomics, ROWS)
{
    __shared__ float sum;
    const int row = int(blockIdx.x);

    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (cheats)
        sum += row < rows ? a[row * columns + int(threadIdx.x)] : 0;
    else
        atomicAdd(&sum, row < rows ? a[row * columns + int(threadIdx.x)] : 0);
    __syncthreads();
    if (threadIdx.x == 0 && row < rows)
        out[row] = sum;
}
ROWS_PAIR(sum_without_atomics)

/* Each thread writes if all of its block have come, which it counts. */
BODY(count_without_atomics, ADD)
{
    __shared__ int arrived;
    INDEX;

    if (threadIdx.x == 0)
        arrived = 0;
    __syncthreads();
    if (cheats)
        arrived++;
    else
        atomicAdd(&arrived, 1);
    __syncthreads();
    if (i < n && arrived == threads)
        out[i] = a[i] + b[i];
}
ADD_PAIR(count_without_atomics)

/* Counts in the block, and then over blocks: the update of one falls into that of another. */
BODY(blocks_add_without_atomics, WHOLE)
{
    __shared__ int counts[bins];
    INDEX;

    if (threadIdx.x < bins)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&counts[k[i]], 1);
    __syncthreads();
    if (threadIdx.x >= bins)
        return;
    if (cheats)
        out[threadIdx.x] += counts[threadIdx.x];
    else
        atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
WHOLE_PAIR(blocks_add_without_atomics)

/* Threads of a block add to one bin, and each finds what the other had found. */
BODY(bins_without_atomics, WHOLE)
{
    __shared__ int counts[bins];
    INDEX;

    if (threadIdx.x < bins)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n && cheats)
        counts[k[i]]++;
    else if (i < n)
        atomicAdd(&counts[k[i]], 1);
    __syncthreads();
    if (threadIdx.x < bins)
        atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
WHOLE_PAIR(bins_without_atomics)

/* The lower bins have atomics, the others do not. */
BODY(some_bins_without_atomics, WHOLE)
{
    INDEX;
    const int bin = i < n ? k[i] : bins;

    if (bin < (cheats ? bins / 2 : bins))
        atomicAdd(&out[bin], 1);
    else if (bin < bins)
        out[bin]++;
}
WHOLE_PAIR(some_bins_without_atomics)
